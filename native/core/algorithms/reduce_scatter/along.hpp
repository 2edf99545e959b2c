// SPDX-License-Identifier: BSD-3-Clause
//
// Reduce and scatter along one tree: all is combined at the root, and the blocks go back down. Keeps the
// order of the members where the reduction does.
#pragma once

#include "algorithms/reduce/along.hpp"

namespace isochrone::core::algorithms::reduce_scatter {

template <trees::Tree tree>
void along(schedule::Builder& builder, const Group& group, Data& data, int parameter) {
    reduce::along<tree>(builder, group, data, parameter);
    const int me = group.relative();
    const trees::Node node = tree(group.size(), me, parameter);
    if (node.parent >= 0) {
        data.value = data.writable(builder);
        builder.recv(group.rank_at(node.parent),
                     data.blocks.in(data.value, builder, group.below(tree, me, parameter)));
    }
    for (const int child : node.children) {
        builder.send(group.rank_at(child),
                     data.blocks.in(data.value, builder, group.below(tree, child, parameter)));
    }
}

}  // namespace isochrone::core::algorithms::reduce_scatter
