// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/trees/tree.hpp"

namespace isochrone::core::algorithms::trees {

// Write the position in base k. Its parent has the lowest digit that is not zero set to zero; its children
// have one of the zeros below that digit set. The children with the largest subtrees are served first.
//
//   k = 2, 8 positions:      0
//                        4   2   1
//                       6 5  3
//                       7
Node knomial(int size, int relative, int radix) {
    Node node;
    long step = 1;
    for (; step < size; step *= radix) {
        const long digit = relative / step % radix;
        if (digit != 0) {
            node.parent = static_cast<int>(relative - digit * step);
            break;
        }
    }
    for (step /= radix; step >= 1; step /= radix) {
        for (long digit = 1; digit < radix; ++digit) {
            const long child = relative + digit * step;
            if (child < size) node.children.push_back(static_cast<int>(child));
        }
    }
    return node;
}

}  // namespace isochrone::core::algorithms::trees
