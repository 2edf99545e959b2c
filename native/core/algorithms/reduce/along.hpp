// SPDX-License-Identifier: BSD-3-Clause
//
// Reduction along a tree: receive from the children and combine, send to the parent. In trees whose subtrees
// are runs of members, all but the complete binary one, operands keep the order of the members.
#pragma once

#include "algorithms/reduce/combine.hpp"
#include "algorithms/trees/tree.hpp"

namespace isochrone::core::algorithms::reduce {

template <trees::Tree tree>
void along(schedule::Builder& builder, const Group& group, Data& data, int parameter) {
    const trees::Node node = tree(group.size(), group.relative(), parameter);
    combine(builder, group, data, node.children);
    if (node.parent >= 0) builder.send(group.rank_at(node.parent), builder.whole(data.value));
}

}  // namespace isochrone::core::algorithms::reduce
