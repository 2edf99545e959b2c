// SPDX-License-Identifier: BSD-3-Clause
//
// The ways out of groups, each of which its tasks share. What takes longest is the way that is busy longest,
// which no sum over pairs shows (Hoefler and Snir, "Generic Topology Mapping Strategies for Large-scale
// Parallel Architectures", ICS 2011, call it the maximum congestion).
#pragma once

#include <vector>

#include "mapping/optimiser.hpp"

namespace isochrone::core::mapping {

/// [level][group], how long a byte keeps the group's way out, or its way in, busy; 0 where it does not count.
/// The outermost level's ways lead nowhere.
using WayPrices = std::vector<std::vector<double>>;

/// [end] of the graph's edges: bytes from the vertex whose end it is to its neighbour, and from there.
struct Directions {
    std::vector<double> out;
    std::vector<double> in;
};

/// How long the busiest way is busy.
[[nodiscard]] double busiest(const Problem& problem, const Directions& bytes, const WayPrices& prices,
                             const Assignment& at);

/// Swaps and moves single tasks for as long as that relieves the busiest ways: what falls is the sum of the
/// eighth powers of all, so that the largest counts most. Capacities and fixed tasks are kept. Never makes
/// the busiest busier. Throws std::invalid_argument where bytes or prices do not fit the problem.
[[nodiscard]] Assignment relieved(const Problem& problem, const Directions& bytes, const WayPrices& prices,
                                  Assignment at, const Search& search);

}  // namespace isochrone::core::mapping
