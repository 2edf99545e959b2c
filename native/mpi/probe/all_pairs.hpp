// SPDX-License-Identifier: BSD-3-Clause
//
// Measures all pairs of a communicator and hands the results to rank 0 as it goes.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "clock/clock.hpp"
#include "comm/place.hpp"
#include "probe/options.hpp"
#include "probe/pair_set.hpp"
#include "probe/record.hpp"

namespace isochrone::mpi::probe {

/// Called on rank 0 with each batch of results. Throws comm::Failure to stop all ranks.
using Sink = std::function<void(const std::vector<PairRecord>&)>;

/// Measures the pairs that `done` does not hold (the same set on all ranks), about half a second or 2048
/// pairs to a batch. Within a batch nobody waits but for its turn and its partner (see rounds.hpp).
/// `crowded`: some host has fewer CPUs than ranks; the same on all ranks. Collective; returns the same exit
/// code on all ranks: success, or that of the failure of `sink`, of which rank 0 has printed the line.
[[nodiscard]] int measure_all_pairs(MPI_Comm comm, const Options& options,
                                    const std::vector<comm::Place>& places,
                                    const clock::Calibration& calibration, const clock::Occupancy& occupancy,
                                    bool crowded, const PairSet& done, const Sink& sink);

}  // namespace isochrone::mpi::probe
