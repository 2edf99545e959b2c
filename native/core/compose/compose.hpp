// SPDX-License-Identifier: BSD-3-Clause
//
// From a recipe to the schedule of one rank, for any collective. Flat algorithms come from the tables;
// hierarchical(...) runs one of them at each level among the leaders, in the collective's phases:
//
//   up      inside each node, then inside each rack: to the leader
//   across  among the racks
//   down    inside each rack, then inside each node: from the leader
//
// A scan keeps on each rank what the way up leaves there, and combines it with what comes down: all that the
// ranks before the group had. Where a rank leads others, what it keeps is without its own part.
//
// All phases are one segmented stage, so segments flow from level to level without a barrier.
#pragma once

#include <functional>

#include "compose/resolve.hpp"
#include "place/layout.hpp"
#include "schedule/schedule.hpp"

namespace isochrone::core::compose {

/// What `rank` does. `root`: 0 where the collective has none. `in_place`: MPI_IN_PLACE is given, on the root
/// in rooted collectives. Not for native recipes.
[[nodiscard]] schedule::Schedule schedule_of(const Resolved& resolved, const place::Layout& layout, int rank,
                                             int root, bool in_place = false);

/// What each rank does, one after the other. What is the same for all is worked out once.
void each_schedule(const Resolved& resolved, const place::Layout& layout, int root,
                   const std::function<void(schedule::Schedule)>& visit);

}  // namespace isochrone::core::compose
