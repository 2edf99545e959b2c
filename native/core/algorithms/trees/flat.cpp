// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/trees/tree.hpp"

namespace isochrone::core::algorithms::trees {

Node flat(int size, int relative, int /*parameter*/) {
    if (relative != 0) return {0, {}};
    Node root;
    for (int child = 1; child < size; ++child) root.children.push_back(child);
    return root;
}

}  // namespace isochrone::core::algorithms::trees
