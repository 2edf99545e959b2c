// SPDX-License-Identifier: BSD-3-Clause
//
// The order of ranks in which what a grid or a graph sends along its edges costs least.
#pragma once

#include <cstdint>
#include <vector>

#include "place/layout.hpp"

namespace isochrone::mpi::reorder {

/// A message from one vertex to another, `weight` times.
struct Edge {
    int from;
    int to;
    int weight;
};

/// No larger ones are reordered: the search would take longer than a program may wait for it.
inline constexpr int most_vertices = 1 << 13;
inline constexpr std::int64_t most_edges = std::int64_t{1} << 19;

struct Order {
    std::vector<int>
        ranks;          ///< [position], the rank that takes it; first the vertices, then who is left over
    double cost_s = 0;  ///< of all edges
    double given_cost_s = 0;  ///< ... with rank r at vertex r
};

/// The best order that a quick search finds, the same whenever it is asked again; the given one if none is
/// better. A message costs what one of 4 KiB does by the parameters of the level at which its ranks meet.
///
/// vertices: at most as many as ranks. dimensions: of the grid that they are, row by row; empty for a graph.
/// Throws std::invalid_argument.
[[nodiscard]] Order best_order(const core::place::Layout& layout, int vertices,
                               const std::vector<Edge>& edges, const std::vector<int>& dimensions);

}  // namespace isochrone::mpi::reorder
