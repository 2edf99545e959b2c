// SPDX-License-Identifier: BSD-3-Clause
//
// Smaller graphs that keep what matters: vertices that talk much become one.
#pragma once

#include <cstdint>
#include <vector>

#include "mapping/graph.hpp"
#include "mapping/random.hpp"

namespace isochrone::core::mapping {

struct Clusters {
    std::vector<int> of;  ///< [vertex]
    int count = 0;
};

/// Pairs of neighbours, the best rated first: by weight squared over both sizes (Holtgrewe, Sanders and
/// Schulz, IPDPS 2010, "expansion*2"). Vertices that are left alone pair up with others that are tied most to
/// the same neighbour: in power-law graphs most are leaves around few.
///
/// prices: [term], what a unit of weight counts. most_size: of a pair. kept: assignments that pairs may not
/// cross.
[[nodiscard]] Clusters match(const Graph& graph, const std::vector<double>& prices, std::int64_t most_size,
                             const std::vector<const Assignment*>& kept, Random& random);

}  // namespace isochrone::core::mapping
