// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/trees/subtree.hpp"

#include <algorithm>

namespace isochrone::core::algorithms::trees {

std::vector<int> subtree(Tree tree, int size, int relative, int parameter) {
    std::vector<int> positions{relative};
    for (std::size_t next = 0; next < positions.size(); ++next) {
        const Node node = tree(size, positions[next], parameter);
        positions.insert(positions.end(), node.children.begin(), node.children.end());
    }
    std::sort(positions.begin(), positions.end());
    return positions;
}

}  // namespace isochrone::core::algorithms::trees
