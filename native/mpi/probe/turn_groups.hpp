// SPDX-License-Identifier: BSD-3-Clause
//
// Which ranks take turns: the options say so, and ranks that are crowded do whatever they say.
#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

#include "clock/clock.hpp"
#include "comm/place.hpp"
#include "probe/clusters.hpp"
#include "probe/options.hpp"

namespace isochrone::mpi::probe {

/// The clusters of the options, if there are any; those of one machine are one where ranks are crowded.
/// Collective.
[[nodiscard]] std::optional<Clusters> clusters_to_obey(MPI_Comm comm, const Options& options,
                                                       const clock::Occupancy& occupancy, bool crowded);

/// Of each rank a number from 0: one pair at a time has a rank of a group. Collective.
[[nodiscard]] std::vector<int> turn_groups(MPI_Comm comm, const Options& options,
                                           const std::optional<Clusters>& clusters,
                                           const std::vector<comm::Place>& places,
                                           const clock::Occupancy& occupancy, bool crowded);

}  // namespace isochrone::mpi::probe
