// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/allreduce/recursive_doubling.hpp"

#include "algorithms/allreduce/fold.hpp"
#include "algorithms/reduce/combine.hpp"

namespace isochrone::core::algorithms::allreduce {

// In round k members that are 2^k apart exchange what they have: then runs of 2^(k+1) members have the same.
void recursive_doubling(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    const Fold fold(group);
    fold.in(builder, group, data);
    if (fold.me() >= 0) {
        reduce::Exchange exchange(builder, group, data);
        for (int distance = 1; distance < fold.size(); distance *= 2)
            exchange.with(fold.member(fold.me() ^ distance));
        data.settle(builder);
    }
    fold.out(builder, group, data);
}

}  // namespace isochrone::core::algorithms::allreduce
