// SPDX-License-Identifier: BSD-3-Clause
//
// Multilevel search: on graphs that get smaller first, then larger again.
#pragma once

#include <functional>

#include "mapping/graph.hpp"
#include "mapping/places.hpp"
#include "mapping/random.hpp"

namespace isochrone::core::mapping {

/// How much is tried.
struct Effort {
    int tries = 8;         ///< first bisections on the coarsest graph
    int rounds = 3;        ///< of search_moves on each graph
    int fruitless = 50;    ///< moves that a local search goes on for without a new best
    int starts = 2;        ///< partitions of each group
    int steps = 1;         ///< partitions of each group in several steps
    int cycles = 1;        ///< V-cycles of each
    int crossings = 3;     ///< of two of them
    bool is_deep = false;  ///< coarsens until groups that talk much are one vertex each
    bool packs = false;    ///< fills groups that have room, and leaves others empty
    std::function<bool()> is_late = [] { return false; };  ///< then nothing more is tried
};

/// Recursive multisection along the tree of places (von Kirchbach, Schulz and Träff, "Better Process Mapping
/// and Sparse Quadratic Assignment", 2020): the tasks are parted among the outermost groups so that what
/// crosses is least, then those of each group among its own, each time by multilevel partitioning. How uneven
/// a part may be follows what room is left below (Schulz and Woydt, "Shared-Memory Hierarchical Process
/// Mapping", 2025).
[[nodiscard]] Assignment multisected(const Graph& graph, const Places& places, const Effort& effort,
                                     Random& random);

/// One V-cycle on the whole objective: coarsens within places, so that the mapping is one of each graph, and
/// refines on the way back (Walshaw, 2004). Where `other` is given, what either mapping parts stays apart, so
/// that the search may take the better of both at each border (Sanders and Schulz, "Distributed Evolutionary
/// Graph Partitioning", ALENEX 2012). Never gets worse.
void cycle(const Graph& graph, const Places& places, Assignment& at, const Assignment* other,
           const Effort& effort, Random& random);

}  // namespace isochrone::core::mapping
