// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/trees/tree.hpp"

namespace isochrone::core::algorithms::trees {

//          0
//       1     2
//      3 4   5 6
Node binary(int size, int relative, int /*parameter*/) {
    Node node{relative == 0 ? -1 : (relative - 1) / 2, {}};
    for (const int child : {2 * relative + 1, 2 * relative + 2}) {
        if (child < size) node.children.push_back(child);
    }
    return node;
}

}  // namespace isochrone::core::algorithms::trees
