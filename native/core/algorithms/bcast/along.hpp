// SPDX-License-Identifier: BSD-3-Clause
//
// Broadcast along a tree: receive from the parent, send to the children in their order.
#pragma once

#include "algorithms/algorithm.hpp"
#include "algorithms/trees/tree.hpp"

namespace isochrone::core::algorithms::bcast {

template <trees::Tree tree>
void along(schedule::Builder& builder, const Group& group, Data& data, int parameter) {
    const trees::Node node = tree(group.size(), group.relative(), parameter);
    if (node.parent >= 0) {
        data.value = data.writable(builder);
        builder.recv(group.rank_at(node.parent), builder.whole(data.value));
    }
    for (const int child : node.children) builder.send(group.rank_at(child), builder.whole(data.value));
}

}  // namespace isochrone::core::algorithms::bcast
