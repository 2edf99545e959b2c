// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mapping/multilevel.hpp"

namespace isochrone::core::mapping {

/// Recursive multisection along the tree of places (von Kirchbach, Schulz and Träff, "Better Process Mapping
/// and Sparse Quadratic Assignment", 2020): the tasks are parted among the outermost groups so that what
/// crosses is least, then those of each group among its own, each time by multilevel partitioning. How uneven
/// a part may be follows what room is left below (Schulz and Woydt, "Shared-Memory Hierarchical Process
/// Mapping", 2025).
[[nodiscard]] Assignment multisected(const Graph& graph, const Places& places, const Effort& effort,
                                     Random& random);

}  // namespace isochrone::core::mapping
