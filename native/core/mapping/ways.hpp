// SPDX-License-Identifier: BSD-3-Clause
//
// The ways out of groups, each of which its tasks share. What takes longest is the way that is busy longest,
// which no sum over pairs shows (Hoefler and Snir, "Generic Topology Mapping Strategies for Large-scale
// Parallel Architectures", ICS 2011, call it the maximum congestion).
#pragma once

#include <functional>
#include <vector>

#include "mapping/optimiser.hpp"

namespace isochrone::core::mapping {

/// [level][group], how long a unit of the first term keeps the group's way busy; 0 where it does not count.
/// The outermost level's way leads nowhere.
using WayPrices = std::vector<std::vector<double>>;

/// How long the busiest way is busy, with both directions of an edge added.
[[nodiscard]] double busiest(const Problem& problem, const WayPrices& prices, const Assignment& at);

/// Swaps and moves single tasks for as long as that relieves the busiest ways: what falls is the sum of the
/// eighth powers of all, so that the largest counts most. Capacities and fixed tasks are kept. Never makes
/// the busiest busier. Throws std::invalid_argument where prices and places do not fit each other.
[[nodiscard]] Assignment relieved(const Problem& problem, const WayPrices& prices, Assignment at,
                                  const Search& search);

}  // namespace isochrone::core::mapping
