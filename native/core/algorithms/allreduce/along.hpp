// SPDX-License-Identifier: BSD-3-Clause
//
// Allreduce along a tree: up to the root, and the result down the same way.
#pragma once

#include "algorithms/bcast/along.hpp"
#include "algorithms/reduce/along.hpp"

namespace isochrone::core::algorithms::allreduce {

template <trees::Tree tree>
void along(schedule::Builder& builder, const Group& group, Data& data, int parameter) {
    reduce::along<tree>(builder, group, data, parameter);
    if (group.relative() == 0) data.settle(builder);
    bcast::along<tree>(builder, group, data, parameter);
}

}  // namespace isochrone::core::algorithms::allreduce
