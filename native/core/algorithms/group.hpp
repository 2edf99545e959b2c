// SPDX-License-Identifier: BSD-3-Clause
//
// The ranks among which an algorithm works.
#pragma once

#include <span>
#include <vector>

#include "algorithms/trees/tree.hpp"

namespace isochrone::core::algorithms {

/// Ranks in parts, of which there may be as many as ranks: all in one piece of memory.
class Parts {
  public:
    [[nodiscard]] std::size_t size() const { return starts_.size() - 1; }
    [[nodiscard]] std::span<const int> operator[](std::size_t part) const {
        return std::span(ranks_).subspan(starts_[part], starts_[part + 1] - starts_[part]);
    }
    void add(std::span<const int> part) {
        ranks_.insert(ranks_.end(), part.begin(), part.end());
        starts_.push_back(ranks_.size());
    }
    /// Those of all parts, one after the other.
    [[nodiscard]] const std::vector<int>& ranks() const { return ranks_; }
    /// One for each rank.
    [[nodiscard]] static Parts single(std::vector<int> ranks);
    /// The ranks by `part_of`, their part, each [position in ranks]; there are so many parts.
    [[nodiscard]] static Parts divided(const std::vector<int>& ranks, const std::vector<std::size_t>& part_of,
                                       std::size_t parts);

  private:
    std::vector<int> ranks_;
    std::vector<std::size_t> starts_{0};
};

/// Members are numbered by their position in `ranks`; algorithms count from the root: relative = position -
/// root (mod size). A member stands for a part: itself alone, or the ranks of a node or rack that it leads.
struct Group {
    std::vector<int> ranks;  ///< ranks in the communicator
    int root = 0;            ///< position of the root
    int me = 0;              ///< position of this rank
    Parts parts;             ///< the ranks that each member stands for, ascending

    [[nodiscard]] int size() const { return static_cast<int>(ranks.size()); }
    [[nodiscard]] int relative() const { return (me - root + size()) % size(); }
    /// Rank in the communicator of the member at a position.
    [[nodiscard]] int member(int position) const { return ranks[static_cast<std::size_t>(position)]; }
    /// ... of the member that is `relative` places after the root.
    [[nodiscard]] int rank_at(int relative) const { return member((root + relative) % size()); }
    /// The ranks that this member stands for.
    [[nodiscard]] std::span<const int> part_at(int relative) const {
        return parts[static_cast<std::size_t>((root + relative) % size())];
    }
    /// The ranks that several members stand for, one member after the other.
    [[nodiscard]] std::vector<int> parts_at(std::span<const int> relatives) const;
    /// All ranks that the group stands for, ascending.
    [[nodiscard]] std::vector<int> all() const;
    /// The ranks, ascending, that the subtree of a member stands for.
    [[nodiscard]] std::vector<int> below(trees::Tree tree, int relative, int parameter) const;
};

}  // namespace isochrone::core::algorithms
