// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/allreduce/recursive_doubling.hpp"

#include "algorithms/allreduce/recursive_multiplying.hpp"

namespace isochrone::core::algorithms::allreduce {

// In round k members that are 2^k apart exchange what they have: then runs of 2^(k+1) members have the same.
void recursive_doubling(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    recursive_multiplying(builder, group, data, 2);
}

}  // namespace isochrone::core::algorithms::allreduce
