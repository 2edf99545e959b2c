// SPDX-License-Identifier: BSD-3-Clause
//
// Gather or scatter along a tree: only the way is laid out here, see passage.hpp.
#pragma once

#include "algorithms/algorithm.hpp"
#include "algorithms/trees/tree.hpp"

namespace isochrone::core::algorithms::gather {

template <trees::Tree tree>
void along(schedule::Builder& /*builder*/, const Group& group, Data& data, int parameter) {
    const trees::Node node = tree(group.size(), group.relative(), parameter);
    for (const int child : node.children) {
        data.passage.children.push_back({group.rank_at(child), group.below(tree, child, parameter)});
    }
    if (node.parent < 0) return;
    data.passage.parent = group.rank_at(node.parent);
}

}  // namespace isochrone::core::algorithms::gather
