// SPDX-License-Identifier: BSD-3-Clause
//
// The system graph: places that hold tasks, the tree of groups that they are in, and what it costs to be
// apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace isochrone::core::mapping {

class Places {
  public:
    /// Places of a tree. A pair is apart as the innermost group says that both are in.
    ///
    /// groups: [level][place], the number of the group of each place, outermost level first. The first level
    /// has one group; each level refines the one before. distances: [level][group][term]. capacities:
    /// [place], how many tasks it holds. Throws std::invalid_argument for what is no tree or has a negative
    /// distance.
    Places(std::vector<std::vector<int>> groups, std::vector<std::vector<std::vector<double>>> distances,
           std::vector<std::int64_t> capacities);

    /// Places that are all equally far from each other: one term, distance 1.
    [[nodiscard]] static Places star(std::vector<std::int64_t> capacities);

    [[nodiscard]] int count() const { return static_cast<int>(capacities_.size()); }
    [[nodiscard]] int terms() const { return terms_; }
    [[nodiscard]] std::size_t levels() const { return groups_.size(); }
    [[nodiscard]] int group(std::size_t level, int place) const {
        return groups_[level][static_cast<std::size_t>(place)];
    }
    [[nodiscard]] std::int64_t capacity(int place) const {
        return capacities_[static_cast<std::size_t>(place)];
    }
    [[nodiscard]] const std::vector<std::int64_t>& capacities() const { return capacities_; }

    /// [term], what it costs for a unit of each to be apart so; zeros for a place and itself.
    [[nodiscard]] const double* distances(int a, int b) const {
        return table_.data() + static_cast<std::size_t>(meeting(a, b)) * static_cast<std::size_t>(terms_);
    }

    /// [term], of a group: what pairs cost that meet there.
    [[nodiscard]] std::vector<double> distances_of(std::size_t level, int group) const;

  private:
    [[nodiscard]] int meeting(int a, int b) const {
        if (!dense_.empty()) {
            return dense_[static_cast<std::size_t>(a) * capacities_.size() + static_cast<std::size_t>(b)];
        }
        return meet(a, b);
    }
    [[nodiscard]] int meet(int a, int b) const;

    int terms_ = 1;
    std::vector<std::vector<int>> groups_;  ///< [level][place]
    std::vector<int> first_node_;           ///< [level], number of its first group among all
    std::vector<double> table_;             ///< [node][term]; node 0 is a place and itself
    std::vector<std::int64_t> capacities_;
    std::vector<std::uint16_t> dense_;  ///< [place][place], the node; empty where that would be large
};

}  // namespace isochrone::core::mapping
