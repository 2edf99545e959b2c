// SPDX-License-Identifier: BSD-3-Clause
//
// One time for all ranks: each rank's offset to the clock of rank 0.
//
// Ranks on one machine have the system's clock in common, and each reads it beside its own: they differ by
// less than a microsecond. Between machines the first rank of each does the following.
//
// A rank reads the clock of its parent in a binomial tree by ping-pongs and keeps the exchange that took
// least: the parent read its clock somewhere within that round trip, so taking its middle errs by half of it
// at most (F. Cristian, "Probabilistic clock synchronization", Distributed Computing 3, 1989). Offsets and
// errors add up along the tree, whose depth is log2 of the ranks (T. Jones and G. A. Koenig, "Clock
// synchronization in high-end computing environments", 2013; S. Hunold and A. Carpen-Amarie, "Hierarchical
// clock synchronization in MPI", CLUSTER 2018). Drift is not modelled: measure again with `drift` and
// synchronise anew where it has grown beyond the error.
#pragma once

#include <mpi.h>

#include "clock/machines.hpp"

namespace isochrone::mpi::clock {

class SyncedClock {
  public:
    /// `offset_s` is what to add to this rank's now() to get rank 0's.
    SyncedClock(double offset_s, double error_s) : offset_s_(offset_s), error_s_(error_s) {}

    [[nodiscard]] double to_global(double local_s) const { return local_s + offset_s_; }
    [[nodiscard]] double to_local(double global_s) const { return global_s - offset_s_; }
    /// No rank's to_global() is farther than this from rank 0's clock; the same number on all ranks.
    [[nodiscard]] double error_s() const { return error_s_; }

  private:
    double offset_s_;
    double error_s_;
};

/// Collective over `comm`, whose ranks are on `machines`; each rank makes `exchanges` ping-pongs with its
/// parent, at least 1.
[[nodiscard]] SyncedClock synchronise(MPI_Comm comm, const Machines& machines, int exchanges = 20);

/// Measures again and returns the largest change of any rank's offset, the same number on all ranks. Both
/// measurements may err by their error_s(), so a change below twice that may be none. Collective.
[[nodiscard]] double drift(MPI_Comm comm, const Machines& machines, const SyncedClock& clock,
                           int exchanges = 20);

}  // namespace isochrone::mpi::clock
