// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/allreduce/recursive_multiplying.hpp"

#include <algorithm>

#include "algorithms/reduce/combine.hpp"
#include "algorithms/reduce/fold.hpp"

namespace isochrone::core::algorithms::allreduce {

// Recursive doubling with more than two at once. Write the members' numbers in base k: in round i those that
// differ in digit i alone exchange what they have. Then runs of k^(i+1) members have the same. The highest
// digit may have fewer values than k.
//
//   k = 3, 6 members:   0 1 2   3 4 5     each with all of its run
//                       0 3   1 4   2 5   each with the one at its place in the other run
void recursive_multiplying(schedule::Builder& builder, const Group& group, Data& data, int radix) {
    const reduce::Fold fold(group, radix);
    fold.in(builder, group, data);
    const int me = fold.me();
    if (me >= 0) {
        reduce::Exchange exchange(builder, group, data);
        for (int run = 1; run < fold.size();) {
            const int digits = std::min(radix, fold.size() / run);
            const int first = me - me / run % digits * run;
            std::vector<int> others;
            for (int digit = 0; digit < digits; ++digit) {
                const int other = first + digit * run;
                if (other != me) others.push_back(fold.member(other));
            }
            exchange.with(others);
            run *= digits;
        }
        data.settle(builder);
    }
    fold.out(builder, group, data);
}

}  // namespace isochrone::core::algorithms::allreduce
