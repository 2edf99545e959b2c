// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "algorithms/trees/tree.hpp"

namespace isochrone::core::algorithms::trees {

// The positions after the root are cut into runs, of which the first are longer by one where they don't come
// out even. Each run is a chain, and the root feeds the first of each.
//
//   2 chains, 6 positions:  0 -> 1 -> 2 -> 3
//                             -> 4 -> 5
Node chains(int size, int relative, int count) {
    const int used = std::min(count, size - 1);
    Node node;
    int first = 1;
    for (int chain = 0; chain < used; ++chain) {
        const int end = first + (size - 1) / used + (chain < (size - 1) % used ? 1 : 0);
        if (relative == 0) node.children.push_back(first);
        if (relative >= first && relative < end) {
            node.parent = relative == first ? 0 : relative - 1;
            if (relative + 1 < end) node.children.push_back(relative + 1);
        }
        first = end;
    }
    return node;
}

}  // namespace isochrone::core::algorithms::trees
