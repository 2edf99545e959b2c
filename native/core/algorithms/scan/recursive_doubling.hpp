// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "algorithms/algorithm.hpp"

namespace isochrone::core::algorithms::scan {

void recursive_doubling(schedule::Builder& builder, const Group& group, Data& data, int parameter);
/// ... without the member's own. The first member ends with nothing.
void exclusive_recursive_doubling(schedule::Builder& builder, const Group& group, Data& data, int parameter);

}  // namespace isochrone::core::algorithms::scan
