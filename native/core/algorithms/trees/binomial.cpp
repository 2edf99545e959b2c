// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/trees/tree.hpp"

namespace isochrone::core::algorithms::trees {

Node binomial(int size, int relative, int /*parameter*/) { return knomial(size, relative, 2); }

}  // namespace isochrone::core::algorithms::trees
