// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "algorithms/trees/tree.hpp"
#include "place/layout.hpp"
#include "schedule/schedule.hpp"

namespace isochrone::core::compose {

/// Gathers blocks of different lengths along `trees` (one a level, outermost first). Only the root knows the
/// lengths: first each rank on the way learns from its children how much will pass through it, then the data
/// follow. Input: one block; output: of the root, one block a rank. Counts that the caller gives: counts[0]
/// is the length of this rank's block; at the root counts[1 + r] is that of rank r. After Kielmann et al.,
/// MagPIe, PPoPP 1999, section 4.
[[nodiscard]] schedule::Schedule hierarchical_gatherv(const place::Layout& layout,
                                                      const std::vector<int>& levels,
                                                      const std::vector<algorithms::trees::Tree>& trees,
                                                      int rank, int root);

}  // namespace isochrone::core::compose
