// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/trees/tree.hpp"

namespace isochrone::core::algorithms::trees {

// Of a run of positions the first is on top, and the others are cut into two runs, one below either side. So
// every subtree is a run, and operands keep their order on the way up.
//
//          0
//       1     4
//      2 3   5 6
Node in_order_binary(int size, int relative, int /*parameter*/) {
    Node node;
    int top = 0;
    int end = size;
    for (;;) {
        const int left = top + 1;
        const int right = left + (end - top) / 2;
        if (top == relative) {
            if (left < end) node.children.push_back(left);
            if (right < end) node.children.push_back(right);
            return node;
        }
        node.parent = top;
        if (relative < right) {
            top = left;
            end = right;
        } else {
            top = right;
        }
    }
}

}  // namespace isochrone::core::algorithms::trees
