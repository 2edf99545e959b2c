// SPDX-License-Identifier: BSD-3-Clause
//
// Parts of a graph with as little as can be between them: multilevel graph partitioning.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mapping/multilevel.hpp"

namespace isochrone::core::mapping {

/// The part of a group's tasks that one of its parts may hold, where `depth` more divisions are to come, this
/// one among them: each uses up its share of the room.
[[nodiscard]] std::int64_t limit(std::int64_t tasks, std::int64_t capacity, std::int64_t of,
                                 std::size_t depth, bool packs);

/// The best of several partitions, and of what comes of two of them. `parts` are a star; the graph has one
/// term.
[[nodiscard]] Assignment partitioned(const Graph& graph, const Places& parts, const Effort& effort,
                                     Random& random);

}  // namespace isochrone::core::mapping
