// SPDX-License-Identifier: BSD-3-Clause
//
// Multilevel search: on graphs that get smaller first, then larger again.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "mapping/coarsen.hpp"
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

/// Graphs from the finest, which is not among them, to the coarsest, and how each came from the one before.
struct Hierarchy {
    std::vector<Graph> graphs;
    std::vector<Clusters> clusters;

    [[nodiscard]] const Graph& graph(const Graph& finest, std::size_t level) const {
        return level == 0 ? finest : graphs[level - 1];
    }
};

/// Coarsens until there are about so few vertices; none becomes larger than `most_size`. Mappings in `kept`
/// are of the finest graph; what one of them parts is never one vertex. They come back as mappings of the
/// coarsest.
[[nodiscard]] Hierarchy coarsen(const Graph& finest, const std::vector<double>& prices, int fewest,
                                std::int64_t most_size, std::vector<Assignment>& kept, Random& random);

/// Takes a mapping of the coarsest graph back to the finest, refined on each.
void uncoarsen(const Graph& finest, const Hierarchy& hierarchy, const Places& places, Assignment& at,
               const Effort& effort, Random& random);

/// One V-cycle on the whole objective: coarsens within places, so that the mapping is one of each graph, and
/// refines on the way back (Walshaw, 2004). Where `other` is given, what either mapping parts stays apart, so
/// that the search may take the better of both at each border (Sanders and Schulz, "Distributed Evolutionary
/// Graph Partitioning", ALENEX 2012). Never gets worse.
void cycle(const Graph& graph, const Places& places, Assignment& at, const Assignment* other,
           const Effort& effort, Random& random);

}  // namespace isochrone::core::mapping
