// SPDX-License-Identifier: BSD-3-Clause
//
// Who sends to whom: a function for each way, of a rank, the number of ranks, and a root.
#pragma once

#include "patterns/pattern.hpp"

namespace isochrone::core::patterns {

/// Rank 0 to rank 1.
Peers one_way(int rank, int size, int root);
/// Ranks 0 and 1, to each other.
Peers both_ways(int rank, int size, int root);
/// Each rank of the first half to one of the second: i to i + size / 2. Of an odd number the last has none.
Peers halves(int rank, int size, int root);
/// All to the root.
Peers to_root(int rank, int size, int root);
/// Each rank to its neighbours in a grid of two dimensions, both closed to rings, which is as square as can
/// be. Where an extent is 1 there are none in that dimension.
Peers grid(int rank, int size, int root);

/// The rows of that grid, the smaller extent; the rest is its columns.
[[nodiscard]] int grid_rows(int size);

}  // namespace isochrone::core::patterns
