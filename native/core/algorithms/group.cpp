// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/group.hpp"

#include <algorithm>

#include "algorithms/trees/subtree.hpp"

namespace isochrone::core::algorithms {

std::vector<int> Group::all() const {
    std::vector<int> result;
    for (const auto& part : parts) result.insert(result.end(), part.begin(), part.end());
    std::sort(result.begin(), result.end());
    return result;
}

std::vector<int> Group::below(trees::Tree tree, int relative, int parameter) const {
    std::vector<int> result;
    for (const int position : trees::subtree(tree, size(), relative, parameter)) {
        const auto& part = part_at(position);
        result.insert(result.end(), part.begin(), part.end());
    }
    std::sort(result.begin(), result.end());
    return result;
}

}  // namespace isochrone::core::algorithms
