// SPDX-License-Identifier: BSD-3-Clause
//
// Communicators with a topology whose program allows that ranks are reordered. The library makes them, of a
// communicator of the same ranks in the order that costs least:
//
//   the program's communicator   0  1  2  3
//   another one of its ranks     2  0  3  1     library, reorder = 0 ──▶ grid or graph
//
// No MPI header here, see interpose/call.hpp.
#pragma once

#include <functional>

#include "place/layout.hpp"
#include "preload/word.hpp"

namespace isochrone::mpi::reorder {

using preload::Word;

/// From now on topologies are reordered; `world`: of the ranks as launched. To be called on all ranks of the
/// world. Throws comm::Error.
void begin_reordering(core::place::Layout world);
/// Right before MPI ends.
void end_reordering() noexcept;

/// The library's function on a communicator, with or without its own reordering; gives its return code.
using Make = std::function<int(Word comm, int reorder)>;

/// In the place of MPI_Cart_create and MPI_Graph_create. What the library would refuse, or ranks cannot be
/// reordered for, is left to it.
[[nodiscard]] int make_grid(Word comm, int count, const int* dimensions, const int* periods, int reorder,
                            const Make& make) noexcept;
[[nodiscard]] int make_graph(Word comm, int nodes, const int* index, const int* edges, int reorder,
                             const Make& make) noexcept;

/// In the place of MPI_Dist_graph_create: `nodes` have `degrees` many of `destinations` each.
[[nodiscard]] int make_edges(Word comm, int count, const int* nodes, const int* degrees,
                             const int* destinations, const int* weights, int reorder,
                             const Make& make) noexcept;

/// The neighbours of one vertex, in one direction.
struct Neighbours {
    int count;
    const int* ranks;
    const int* weights;
};
using MakeAdjacent =
    std::function<int(Word comm, const Neighbours& sources, const Neighbours& destinations, int reorder)>;

/// In the place of MPI_Dist_graph_create_adjacent. A rank says what vertex `its rank` has; in the new order
/// another may be that vertex, and gets this from it.
[[nodiscard]] int make_adjacent(Word comm, const Neighbours& sources, const Neighbours& destinations,
                                int reorder, const MakeAdjacent& make) noexcept;

}  // namespace isochrone::mpi::reorder
