// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "place/layout.hpp"
#include "schedule/schedule.hpp"

namespace isochrone::core::compose {

/// Exchanges blocks between all pairs. What stays inside a group goes directly between the leaders of its
/// parts (between ranks, at the innermost level); what leaves it is collected by the group's leader, and
/// exchanged between leaders further out. So one message crosses between two groups instead of one a pair.
/// Leaders learn all lengths from their members first. Input: one block for each destination; output: one
/// block from each source. Counts that the caller gives: counts[d] is the length for destination d,
/// counts[size + s] that from source s. After Sinha, "Optimizing MPICH collective calls using topology info",
/// section 2.4, carried through.
[[nodiscard]] schedule::Schedule hierarchical_alltoallv(const place::Layout& layout,
                                                        const std::vector<int>& levels, int rank);

}  // namespace isochrone::core::compose
