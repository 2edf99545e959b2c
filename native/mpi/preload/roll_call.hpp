// SPDX-License-Identifier: BSD-3-Clause
//
// Whether all ranks of a job have a preload. A rank without it takes part in nothing, so nothing may wait for
// it longer than for a while, and no message may go to it that its program could receive.
#pragma once

#include <mpi.h>

#include <chrono>
#include <vector>

namespace isochrone::mpi::preload {

/// How long rank 0 waits for the others. All have left MPI_Init together, more or less.
inline constexpr std::chrono::duration<double> patience{5};
/// How long the others wait for its answer: longer than it may wait itself.
inline constexpr std::chrono::duration<double> patience_with_rank_0{15};

/// Until all requests are done, or that long; says whether they are. Ranks may share a core, so the wait
/// leaves it to others. Throws comm::Error.
bool wait(std::vector<MPI_Request>& requests, std::chrono::duration<double> longest);

/// Takes back a receive; false if its message came after all. Throws comm::Error.
bool take_back(MPI_Request& request);

/// To be called by all ranks that have the preload, right after MPI has started: whether that is all of them,
/// the same on each. Rank 0 hears the others, and answers those that it has heard. Throws comm::Error.
bool everyone_is_here();

}  // namespace isochrone::mpi::preload
