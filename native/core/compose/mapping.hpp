// SPDX-License-Identifier: BSD-3-Clause
//
// A tree laid over the network, as Subramoni et al. do (Design and Evaluation of Network Topology-/Speed-
// Aware Broadcast Algorithms for InfiniBand Clusters, section IV-B). The tree of the algorithm is walked from
// its root, and each position gets, of the ranks that are still free, the one closest to its parent's. So the
// shortest links go to the positions that come first: depth first, to the longest path down the tree; breadth
// first, to the messages that the root sends.
//
//   8 ranks on nodes A and B        depth first        breadth first
//
//          0                            A                   A
//      4   2   1                     A  B  B             A  A  A
//     6 5  3                        A B B               B B B
//     7                             A                   B
#pragma once

#include <vector>

#include "algorithms/trees/tree.hpp"
#include "place/layout.hpp"

namespace isochrone::core::compose {

enum class Walk { depth_first, breadth_first };

/// The rank at each position of the tree, the root's being `root`. The closest are those that meet at the
/// innermost level, and of these the lowest.
[[nodiscard]] std::vector<int> mapped(const place::Layout& layout, algorithms::trees::Tree tree,
                                      int parameter, int root, Walk walk);

}  // namespace isochrone::core::compose
