// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "algorithms/algorithm.hpp"

namespace isochrone::core::algorithms::allreduce {

void recursive_multiplying(schedule::Builder& builder, const Group& group, Data& data, int radix);

}  // namespace isochrone::core::algorithms::allreduce
