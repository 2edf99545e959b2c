// SPDX-License-Identifier: BSD-3-Clause
//
// Times collective operations, each from a moment that all ranks agreed on to the end of the slowest rank.
#pragma once

#include <mpi.h>

#include <functional>
#include <span>
#include <vector>

#include "clock/machines.hpp"
#include "clock/sync.hpp"

namespace isochrone::mpi::bench {

/// One call of a block.
struct TimedCall {
    std::function<void()> operation;
    /// What it takes, more or less, equal on all ranks: the next call starts no sooner. 0: not known, for the
    /// only call of a block.
    double expected_s = 0;
    /// How often it was made before, and its start was missed: each time its window is twice as long.
    int missed = 0;
    /// What is no part of its time; empty: nothing.
    std::function<void()> before = {};
    std::function<void()> after = {};
};

/// What became of one.
struct Timing {
    double taken_s = 0;  ///< of the slowest rank
    /// Some rank missed its start: the call before it took longer than its window, or the rank was not
    /// scheduled. It is to be made again, in a later block.
    bool is_missed = false;
};

/// Starts are aligned on synchronised clocks and not by a barrier, whose ranks leave it at different times
/// (Hunold and Carpen-Amarie, "Reproducible MPI benchmarking is still not as easy as you think", IEEE TPDS
/// 27(12), 2016). They are agreed for a block of calls at once, a window of time for each, as SKaMPI's are
/// (Worsch, Reussner and Augustin, "On benchmarking collective MPI operations", EuroPVM/MPI 2002). A block
/// needs two allreduces: one agrees on its start, one brings the results of all of its calls. So a call whose
/// start was missed is not made again at once, but in the next block. After a call
/// so long that what its window has to spare takes longer than to agree anew, the next start is agreed anew.
class AlignedTimer {
  public:
    /// Collective over `comm`, which must outlive this.
    explicit AlignedTimer(MPI_Comm comm);

    /// Collective, with as many calls on all ranks. Runs the calls in their order and returns what came of
    /// each, on all ranks. None is missed after a few tries: where nothing helps, as where ranks share
    /// processors, being late is part of the time.
    std::vector<Timing> time(std::span<const TimedCall> calls);

    /// Collective. Now, on the clock of rank 0, equal on all ranks: the latest of all.
    [[nodiscard]] double agreed_now();
    /// Now, on that clock, as this rank knows it.
    [[nodiscard]] double global_now() const { return clock_.to_global(clock::now()); }
    /// When all ranks last agreed on a start, on that clock; equal on all ranks.
    [[nodiscard]] double last_start_s() const { return last_start_s_; }
    /// What the two allreduces of a block take, in seconds, as far as known; equal on all ranks.
    [[nodiscard]] double agreement_s() const { return agreement_s_; }
    /// ... and with them the wait for its first start: what a block takes beside its calls.
    [[nodiscard]] double block_s() const { return agreement_s_ + lead_s_; }
    [[nodiscard]] double sync_error_s() const { return clock_.error_s(); }
    /// How this rank waits where it stands.
    [[nodiscard]] const clock::Occupancy& occupancy() const { return machines_.occupancy(); }
    /// Whether some host has more ranks than processors.
    [[nodiscard]] bool oversubscribed() const { return machines_.any_oversubscribed(); }

    /// Collective. Checks the clocks where it is time to, and synchronises them anew if they have drifted
    /// apart.
    void keep_synchronised();

    /// Collective. The largest of each of some values over all ranks.
    void maximum(std::span<double> values) const;

  private:
    [[nodiscard]] double window_s(const TimedCall& call) const;
    /// After a block of so many calls, of which so many ran into the window of the next.
    void adapt_window(std::size_t collisions, std::size_t calls);
    /// Whether the start of what comes after a call is agreed by all ranks then, not before; equal on all.
    [[nodiscard]] bool is_agreed_after(const TimedCall& call) const;

    MPI_Comm comm_;
    clock::Machines machines_;
    clock::SyncedClock clock_;
    double window_ = 0;  // of a call, in times of what it should take
    double agreement_s_ = 0;
    double last_start_s_ = 0;
    double least_lead_s_ = 0;
    double lead_s_ = 0;  // from agreeing on the first start to that start
    double least_gap_s_ = 0;
    double gap_s_ = 0;       // from the end of a window to the next start
    double check_at_s_ = 0;  // when the clocks are to be checked next; equal on all ranks
};

}  // namespace isochrone::mpi::bench
