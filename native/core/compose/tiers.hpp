// SPDX-License-Identifier: BSD-3-Clause
//
// The groups in which one rank works when a collective follows the tree.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/group.hpp"
#include "place/layout.hpp"

namespace isochrone::core::compose {

/// One group of a level, divided into parts: the groups of the next level, or single ranks at the innermost.
/// Each part is led by one of its ranks, and the leaders work together.
///
///   level node      { 0 1 2 3 | 4 5 6 7 }     the group; its parts are two sockets
///   leaders           0         4             group.ranks
struct Tier {
    int level = 0;            ///< index in the layout
    algorithms::Group group;  ///< the leaders; the root is the leader of the whole
};

/// Which rank leads a part that does not hold the root.
enum class Leader : std::uint8_t { lowest, highest };

/// The tiers in which `rank` is a leader (at the innermost level every rank leads itself), outermost first. A
/// part that holds `root` is led by it. `levels` are indices, ascending; the ranks of the first must be in
/// one group.
[[nodiscard]] std::vector<Tier> tiers(const place::Layout& layout, const std::vector<int>& levels, int rank,
                                      int root, Leader others = Leader::lowest);

/// All ranks in the order of a walk through the tree, depth first, the root and the groups that hold it
/// first.
[[nodiscard]] std::vector<int> tree_order(const place::Layout& layout, int root);

}  // namespace isochrone::core::compose
