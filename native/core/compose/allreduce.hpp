// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "algorithms/trees/tree.hpp"
#include "place/layout.hpp"
#include "schedule/schedule.hpp"

namespace isochrone::core::compose {

/// Reduces along `trees` (one a level, outermost first) to rank 0 and broadcasts the result the same way
/// back, segment by segment. Every rank gets the same bits. Operands are combined in rank order if
/// `commutative` is false, whatever ranks the groups hold: what cannot be combined yet travels on as it is.
/// Input: the contribution; output: the result. After Kielmann et al., MagPIe, PPoPP 1999, section 4.
[[nodiscard]] schedule::Schedule hierarchical_allreduce(const place::Layout& layout,
                                                        const std::vector<int>& levels,
                                                        const std::vector<algorithms::trees::Tree>& trees,
                                                        bool commutative, bool segmented, int rank);

}  // namespace isochrone::core::compose
