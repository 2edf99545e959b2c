// SPDX-License-Identifier: BSD-3-Clause
#include "compose/mapping.hpp"

#include <deque>
#include <map>

namespace isochrone::core::compose {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// The ranks that have no position yet, by their groups.
class Free {
  public:
    explicit Free(const place::Layout& layout) : group_of_(layout.group_of), is_taken_(at(layout.size)) {
        group_of_.emplace(group_of_.begin(), at(layout.size), 0);  // whatever the levels are, all in one
        groups_.resize(group_of_.size());
        for (std::size_t level = 0; level < group_of_.size(); ++level) {
            for (int rank = 0; rank < layout.size; ++rank)
                groups_[level][group_of_[level][at(rank)]].push_back(rank);
        }
    }

    void take(int rank) { is_taken_[at(rank)] = true; }

    /// There must be one.
    int closest_to(int rank) {
        for (std::size_t level = group_of_.size() - 1;; --level) {
            auto& group = groups_[level][group_of_[level][at(rank)]];
            while (!group.empty() && is_taken_[at(group.front())]) group.pop_front();
            if (!group.empty()) return group.front();
        }
    }

  private:
    std::vector<std::vector<int>> group_of_;
    std::vector<bool> is_taken_;
    std::vector<std::map<int, std::deque<int>>> groups_;
};

}  // namespace

std::vector<int> mapped(const place::Layout& layout, algorithms::trees::Tree tree, int parameter, int root,
                        Walk walk) {
    std::vector<int> rank_at(at(layout.size));
    Free unplaced(layout);
    std::deque<int> next{0};
    while (!next.empty()) {
        const int position = next.front();
        next.pop_front();
        const auto node = tree(layout.size, position, parameter);
        const int rank = node.parent < 0 ? root : unplaced.closest_to(rank_at[at(node.parent)]);
        rank_at[at(position)] = rank;
        unplaced.take(rank);
        next.insert(walk == Walk::depth_first ? next.begin() : next.end(), node.children.begin(),
                    node.children.end());
    }
    return rank_at;
}

}  // namespace isochrone::core::compose
