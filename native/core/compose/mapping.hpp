// SPDX-License-Identifier: BSD-3-Clause
//
// A tree laid over the network, as Subramoni et al. do (Design and Evaluation of Network Topology-/Speed-
// Aware Broadcast Algorithms for InfiniBand Clusters, section IV-B). The tree of the algorithm is walked from
// its root, and each position gets, of the ranks that are still free, the one closest to its parent's. So the
// shortest links go to the positions that come first: depth first, to the longest path down the tree; breadth
// first, to the messages that the root sends. Both leave long paths for the end where many hosts are slow: so
// longest first, which the paper has not, takes whichever position that can be reached has the longest path
// below it, and leaves the ends of the tree for the last.
//
//   8 ranks on nodes A and B        depth first        breadth first
//
//          0                            A                   A
//      4   2   1                     A  B  B             A  A  A
//     6 5  3                        A B B               B B B
//     7                             A                   B
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/trees/tree.hpp"
#include "place/layout.hpp"

namespace isochrone::core::compose {

enum class Walk : std::uint8_t { depth_first, breadth_first, longest_first };

/// The rank at each position of the tree, the root's being `root`. The closest are those on the same host,
/// then those on the host with the least delay if the layout has delays, of equal ones the host that is
/// closest to all others; of these the ones that meet at the innermost level, and of these the lowest.
[[nodiscard]] std::vector<int> mapped(const place::Layout& layout, algorithms::trees::Tree tree,
                                      int parameter, int root, Walk walk);

}  // namespace isochrone::core::compose
