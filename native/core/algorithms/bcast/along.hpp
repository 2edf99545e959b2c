// SPDX-License-Identifier: BSD-3-Clause
//
// Broadcast along a tree: receive from the parent, send to the children in their order.
#pragma once

#include "algorithms/group.hpp"
#include "algorithms/trees/tree.hpp"
#include "schedule/builder.hpp"

namespace isochrone::core::algorithms::bcast {

template <trees::Tree tree>
void along(schedule::Builder& builder, const Group& group, int parameter) {
    const trees::Node node = tree(group.size(), group.relative(), parameter);
    const schedule::Slice data = builder.whole(schedule::output_buffer);
    if (node.parent >= 0) builder.recv(group.rank_at(node.parent), data);
    for (const int child : node.children) builder.send(group.rank_at(child), data);
}

}  // namespace isochrone::core::algorithms::bcast
