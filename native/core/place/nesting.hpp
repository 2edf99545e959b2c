// SPDX-License-Identifier: BSD-3-Clause
//
// Which groups lie in which, where the sizes of the groups of each level do not say so: two racks of four
// ranks with nodes of 2, 2, 1, 1, 1 and 1 may have the two of 2 in one rack, or one each.
//
// Sizes alone stand for the most even way: from the largest group of each level to the smallest, each lies in
// the group around it that has most room left, the first of equal ones. Any other way has a digest.
#pragma once

#include <string>
#include <vector>

namespace isochrone::core::place {

/// [level][rank], outermost first: the group of each rank. Each level divides the groups of the one before.
using GroupsOfLevels = std::vector<const std::vector<int>*>;

/// The digest, equal for ranks whose groups lie in each other alike, whatever their numbers; empty where the
/// sizes say all.
[[nodiscard]] std::string nesting(const GroupsOfLevels& levels);

/// The digest of where a rank is, equal for ranks that can change places with it without a change to the
/// whole; empty where the sizes of its groups say that.
[[nodiscard]] std::string place_in_nesting(const GroupsOfLevels& levels, int rank);

}  // namespace isochrone::core::place
