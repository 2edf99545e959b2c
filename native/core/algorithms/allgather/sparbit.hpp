// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "algorithms/algorithm.hpp"

namespace isochrone::core::algorithms::allgather {

void sparbit(schedule::Builder& builder, const Group& group, Data& data, int parameter);

}  // namespace isochrone::core::algorithms::allgather
