// SPDX-License-Identifier: BSD-3-Clause
//
// What lies below a position of a tree.
#pragma once

#include <vector>

#include "algorithms/trees/tree.hpp"

namespace isochrone::core::algorithms::trees {

/// The positions of the subtree of `relative`, itself included, ascending.
[[nodiscard]] std::vector<int> subtree(Tree tree, int size, int relative, int parameter);

}  // namespace isochrone::core::algorithms::trees
