// SPDX-License-Identifier: BSD-3-Clause
//
// Times one collective operation from a moment that all ranks agreed on to the end of the slowest rank.
#pragma once

#include <mpi.h>

#include <functional>

#include "clock/clock.hpp"
#include "clock/sync.hpp"

namespace isochrone::mpi::bench {

/// Starts are aligned on synchronised clocks and not by a barrier, whose ranks leave it at different times
/// (Hunold and Carpen-Amarie, "Reproducible MPI benchmarking is still not as easy as you think", IEEE TPDS
/// 27(12), 2016). Each measurement needs one small allreduce: it brings the results of the last one and
/// agrees on the next start.
class AlignedTimer {
  public:
    /// Collective over `comm`, which must outlive this.
    explicit AlignedTimer(MPI_Comm comm);

    /// Collective. Runs `operation` and returns what the slowest rank took, in seconds, on all ranks. A start
    /// that some rank missed (it was still busy, or not scheduled) is given up and tried again later, a few
    /// times; where nothing helps, as where ranks share processors, being late is part of the time.
    double time(const std::function<void()>& operation);

    [[nodiscard]] double sync_error_s() const { return clock_.error_s(); }
    /// Whether some host has more ranks than processors.
    [[nodiscard]] bool oversubscribed() const { return oversubscribed_; }

    /// Collective. Checks the clocks and synchronises them anew if they have drifted apart.
    void resynchronise();

  private:
    MPI_Comm comm_;
    clock::Occupancy occupancy_;
    bool oversubscribed_;
    clock::SyncedClock clock_;
    double least_lead_s_ = 0;
    double lead_s_ = 0;  // from agreeing on a start to the start
};

}  // namespace isochrone::mpi::bench
