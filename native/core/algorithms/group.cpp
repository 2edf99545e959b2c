// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/group.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "algorithms/trees/subtree.hpp"

namespace isochrone::core::algorithms {

Parts Parts::single(std::vector<int> ranks) {
    Parts parts;
    parts.ranks_ = std::move(ranks);
    parts.starts_.resize(parts.ranks_.size() + 1);
    std::iota(parts.starts_.begin(), parts.starts_.end(), std::size_t{0});
    return parts;
}

Parts Parts::divided(const std::vector<int>& ranks, const std::vector<std::size_t>& part_of,
                     std::size_t parts) {
    Parts result;
    result.ranks_.resize(ranks.size());
    result.starts_.resize(parts + 1);
    for (const std::size_t part : part_of) ++result.starts_[part + 1];
    std::partial_sum(result.starts_.begin(), result.starts_.end(), result.starts_.begin());
    std::vector<std::size_t> next(result.starts_.begin(), result.starts_.end() - 1);
    for (std::size_t i = 0; i < ranks.size(); ++i) result.ranks_[next[part_of[i]]++] = ranks[i];
    return result;
}

std::vector<int> Group::parts_at(std::span<const int> relatives) const {
    std::vector<int> result;
    for (const int relative : relatives) {
        const auto part = part_at(relative);
        result.insert(result.end(), part.begin(), part.end());
    }
    return result;
}

std::vector<int> Group::all() const {
    std::vector<int> result = parts.ranks();
    std::sort(result.begin(), result.end());
    return result;
}

std::vector<int> Group::below(trees::Tree tree, int relative, int parameter) const {
    std::vector<int> result = parts_at(trees::subtree(tree, size(), relative, parameter));
    std::sort(result.begin(), result.end());
    return result;
}

}  // namespace isochrone::core::algorithms
