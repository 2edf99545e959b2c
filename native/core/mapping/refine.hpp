// SPDX-License-Identifier: BSD-3-Clause
//
// Local search on a mapping: single vertices move, pairs of places exchange vertices, and vertices swap.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "mapping/graph.hpp"
#include "mapping/objective.hpp"
#include "mapping/places.hpp"
#include "mapping/random.hpp"

namespace isochrone::core::mapping {

/// A mapping that changes. Costs and loads follow each move.
struct State {
    State(const Graph& graph, const Places& places, Assignment& at)
        : graph(graph),
          places(places),
          at(at),
          loads(mapping::loads(graph, places, at)),
          tiny(1e-13 * cost(graph, places, at)) {}

    void move(int vertex, int place) {
        const auto v = static_cast<std::size_t>(vertex);
        loads[static_cast<std::size_t>(at[v])] -= graph.sizes[v];
        loads[static_cast<std::size_t>(place)] += graph.sizes[v];
        at[v] = place;
    }
    [[nodiscard]] std::int64_t room(int place) const {
        return places.capacity(place) - loads[static_cast<std::size_t>(place)];
    }
    [[nodiscard]] bool is_fixed(int vertex) const {
        return graph.fixed[static_cast<std::size_t>(vertex)] >= 0;
    }

    const Graph& graph;
    const Places& places;
    Assignment& at;
    std::vector<std::int64_t> loads;  ///< [place]
    double tiny;                      ///< less is no gain, but what is left of sums
};

/// Multi-try k-way Fiduccia–Mattheyses search (Sanders and Schulz, "Engineering Multilevel Graph Partitioning
/// Algorithms", ESA 2011): from each vertex at a border in turn a local search spreads, may get worse for
/// `fruitless` moves, and goes back to its best. Moves only where there is room. Returns by how much the cost
/// fell.
double search_moves(State& state, int fruitless, Random& random);

/// Fiduccia–Mattheyses search between two places at a time, for all pairs of places with an edge between
/// them. On its way a place may hold as much too much as the largest vertex is, so that exact balance is no
/// wall. What is overloaded gets lighter. Returns whether anything got better.
bool search_pairs(State& state, int fruitless, int rounds, Random& random);

/// Swaps of two tasks, or moves of one to where there is room, each for the better, until there is none
/// (Brandfass, Alrutz and Gerhold, 2013): a task goes to places near those of its neighbours. Vertices are of
/// one size. Ends before where `is_late`. Returns by how much the cost fell.
double search_swaps(State& state, Random& random, const std::function<bool()>& is_late);

/// Moves vertices out of overloaded places at the least cost, as far as there is room for them.
void unload(State& state);

}  // namespace isochrone::core::mapping
