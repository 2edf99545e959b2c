// SPDX-License-Identifier: BSD-3-Clause
//
// The shapes of the trees along which rooted collectives run. A tree is a pure function of the group's size,
// the position relative to the root, and a parameter; it returns that one position's neighbours. One file per
// tree.
#pragma once

#include <vector>

namespace isochrone::core::algorithms::trees {

/// Neighbours of one position, counted from the root (which is 0).
struct Node {
    int parent = -1;            ///< -1: the root
    std::vector<int> children;  ///< in the order in which they are served
};

using Tree = Node (*)(int size, int relative, int parameter);

/// The root serves all others itself.
[[nodiscard]] Node flat(int size, int relative, int parameter);
/// Each position serves the next one.
[[nodiscard]] Node chain(int size, int relative, int parameter);
/// As many chains as `count` says, each of consecutive positions, and all fed by the root.
[[nodiscard]] Node chains(int size, int relative, int count);
/// A complete binary tree in level order: i serves 2i+1 and 2i+2.
[[nodiscard]] Node binary(int size, int relative, int parameter);
/// A binary tree whose subtrees are runs of positions.
[[nodiscard]] Node in_order_binary(int size, int relative, int parameter);
/// A binomial tree; the same as knomial with radix 2.
[[nodiscard]] Node binomial(int size, int relative, int parameter);
/// A k-nomial tree: in each of log_k(size) steps every position that has the data serves k-1 others.
[[nodiscard]] Node knomial(int size, int relative, int radix);

}  // namespace isochrone::core::algorithms::trees
