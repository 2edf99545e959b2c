// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "algorithms/algorithm.hpp"

namespace isochrone::core::algorithms::bcast {

/// Half of the message down either half of a binary tree, then each rank exchanges halves with one of the
/// other side, as Open MPI's algorithm of this name.
void split_binary(schedule::Builder& builder, const Group& group, Data& data, int parameter);

}  // namespace isochrone::core::algorithms::bcast
