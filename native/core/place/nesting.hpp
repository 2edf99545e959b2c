// SPDX-License-Identifier: BSD-3-Clause
//
// Which groups lie in which, where the sizes of the groups of each level do not say so: two racks of four
// ranks with nodes of 2, 2, 1, 1, 1 and 1 may have the two of 2 in one rack, or one each.
//
// Sizes alone stand for the most even way: from the largest group of each level to the smallest, each lies in
// the group around it that has most room left, the first of equal ones. Any other way has a digest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace isochrone::core::place {

/// [level][rank], outermost first: the group of each rank. Each level divides the groups of the one before.
using GroupsOfLevels = std::vector<const std::vector<int>*>;

class Nesting {
  public:
    /// Takes O(levels ranks log ranks).
    explicit Nesting(const GroupsOfLevels& levels);

    /// The digest, equal for ranks whose groups lie in each other alike, whatever their numbers; empty where
    /// the sizes say all.
    [[nodiscard]] const std::string& whole() const { return whole_; }
    /// The digest of where a rank is, equal for ranks that can change places with it without a change to the
    /// whole; empty where the sizes of its groups say that.
    [[nodiscard]] std::string place(int rank) const;

  private:
    std::string whole_;
    // Of each rank by the sizes of its groups, and by what is inside them; empty where each level has groups
    // of one size.
    std::vector<std::uint64_t> by_sizes_;
    std::vector<std::uint64_t> by_insides_;
    std::unordered_map<std::uint64_t, bool> is_one_place_;  // of those with the same sizes
};

}  // namespace isochrone::core::place
