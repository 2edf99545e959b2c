// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/trees/tree.hpp"

namespace isochrone::core::algorithms::trees {

Node chain(int size, int relative, int /*parameter*/) {
    Node node{relative - 1, {}};
    if (relative + 1 < size) node.children.push_back(relative + 1);
    return node;
}

}  // namespace isochrone::core::algorithms::trees
