// SPDX-License-Identifier: BSD-3-Clause
#include "bench/aligned.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "comm/check.hpp"

namespace isochrone::mpi::bench {
namespace {

/// On a fast network; a slow one is given as much as it needs.
constexpr double longest_lead_s = 5e-3;

/// What it takes to come back from one call and to wait for the next, without an error of the clocks.
constexpr double shortest_gap_s = 5e-6;

/// How long a window is, in times of what its call should take, at first, at least and at most: most calls
/// take hardly longer than the one before, and those that do are made again. Where few do, windows become
/// shorter.
constexpr double first_window = 1.3;
constexpr double least_window = 1.1;
constexpr double most_window = 1.6;
constexpr double few_collisions = 0.1;

/// How often a call is made whose start was missed. In a simulation no rank is late, and each block's first
/// call begins when it should: so all are made as they should in the end.
#ifdef ISOCHRONE_SMPI
constexpr int most_tries = std::numeric_limits<int>::max();
#else
constexpr int most_tries = 5;
#endif

/// How often clocks are checked: they drift by about a microsecond a second. Over slow links a check takes as
/// long as many calls, and the error is larger anyway: so it has no more than this share of the time.
constexpr double check_every_s = 1;
constexpr double check_share = 0.02;

#ifdef ISOCHRONE_SMPI
constexpr int samples = 1;

/// Simulated time costs nothing: longer than nearly any call takes, and short enough that a clock of 16
/// digits still shows the seventh of a microsecond after a hundred of them.
constexpr double simulated_window_s = 10;

/// Two binomial trees of our own: simulated messages cost real time, and these are the fewest.
void maximum_of(MPI_Comm comm, std::span<double> values) {
    constexpr int tag = 0;
    const int size = comm::size_of(comm);
    const int rank = comm::rank_in(comm);
    const int count = static_cast<int>(values.size());
    std::vector<double> other(values.size());
    int step = 1;
    for (; step < size && rank % (2 * step) == 0; step *= 2) {
        if (rank + step >= size) continue;
        comm::check(MPI_Recv(other.data(), count, MPI_DOUBLE, rank + step, tag, comm, MPI_STATUS_IGNORE),
                    "MPI_Recv");
        for (std::size_t i = 0; i < other.size(); ++i) values[i] = std::max(values[i], other[i]);
    }
    if (rank != 0) {
        comm::check(MPI_Send(values.data(), count, MPI_DOUBLE, rank - step, tag, comm), "MPI_Send");
        comm::check(MPI_Recv(values.data(), count, MPI_DOUBLE, rank - step, tag, comm, MPI_STATUS_IGNORE),
                    "MPI_Recv");
    }
    for (step /= 2; step >= 1; step /= 2) {
        if (rank + step < size)
            comm::check(MPI_Send(values.data(), count, MPI_DOUBLE, rank + step, tag, comm), "MPI_Send");
    }
}
#else
constexpr int samples = 5;

void maximum_of(MPI_Comm comm, std::span<double> values) {
    comm::check(PMPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE,
                               MPI_MAX, comm),
                "MPI_Allreduce");
}
#endif

/// More where somebody was late, a little less where nobody was.
double adapted(double wait_s, double least_s, bool was_late) {
    return std::max(least_s, was_late ? std::min(longest_lead_s, 1.5 * wait_s) : 0.9 * wait_s);
}

}  // namespace

AlignedTimer::AlignedTimer(MPI_Comm comm)
    : comm_(comm), machines_(comm), clock_(clock::synchronise(comm, machines_)), window_(first_window) {
    // The lead must cover what the slowest rank takes to learn of the start: a few times the allreduce that
    // tells it.
    std::array<double, 1> fastest = {std::numeric_limits<double>::max()};
    for (int i = 0; i < samples; ++i) {
        const double begin = clock::now();
        std::array<double, 1> ignored = {0};
        maximum(ignored);
        fastest[0] = std::min(fastest[0], clock::now() - begin);
    }
    maximum(fastest);
    agreement_s_ = 2 * fastest[0];
    least_lead_s_ = 3 * fastest[0] + 2 * clock_.error_s();
    lead_s_ = least_lead_s_;
    least_gap_s_ = shortest_gap_s + 2 * clock_.error_s();
    gap_s_ = least_gap_s_;
    check_at_s_ = agreed_now() + check_every_s;
}

double AlignedTimer::agreed_now() {
    std::array<double, 1> now = {global_now()};
    maximum(now);
    last_start_s_ = now[0];
    return now[0];
}

void AlignedTimer::maximum(std::span<double> values) const { maximum_of(comm_, values); }

std::vector<Timing> AlignedTimer::time(std::span<const TimedCall> calls) {
    const std::size_t count = calls.size();
    if (count == 0) return {};
    double start = 0;
    std::vector<double> starts(count);
    std::vector<bool> is_agreed(count);  // when it starts was agreed then, and is not told by the one before
    std::vector<double> times(2 * count);  // when each began, and when it ended
    for (std::size_t i = 0; i < count; ++i) {
        is_agreed[i] = i == 0 || is_agreed_after(calls[i - 1]);
        if (is_agreed[i]) start = agreed_now() + lead_s_;
        starts[i] = start;
        start += window_s(calls[i]);
        if (calls[i].before) calls[i].before();
        clock::sleep_until(clock_.to_local(starts[i]), occupancy());
        times[i] = global_now();
        calls[i].operation();
        times[count + i] = global_now();
        if (calls[i].after) calls[i].after();
    }
    maximum(times);
    std::vector<Timing> timings(count);
    bool lead_was_short = false;
    bool gap_was_short = false;
    std::size_t collisions = 0;
    for (std::size_t i = 0; i < count; ++i) {
        // To count from when the last one began would leave out what the others had done by then.
        const double taken = times[count + i] - starts[i];
        const bool collided = i > 0 && times[count + i - 1] > starts[i];
        const bool late = !collided && times[i] - starts[i] > std::max(0.02 * taken, clock_.error_s());
        if (collided) ++collisions;
        if (late && is_agreed[i]) lead_was_short = true;
        // Where ranks wait for a processor, some are late however often one tries.
        const bool late_for_long = late && !oversubscribed();
        if (late_for_long && !is_agreed[i]) gap_was_short = true;
        timings[i] = {taken, (collided || late_for_long) && calls[i].missed + 1 < most_tries};
    }
    adapt_window(collisions, count);
    lead_s_ = adapted(lead_s_, least_lead_s_, lead_was_short);
    gap_s_ = adapted(gap_s_, least_gap_s_, gap_was_short);
    return timings;
}

/// From one start to the next.
double AlignedTimer::window_s(const TimedCall& call) const {
#ifdef ISOCHRONE_SMPI
    return std::ldexp(simulated_window_s, call.missed);
#else
    return std::ldexp(window_ * call.expected_s, call.missed) + gap_s_;
#endif
}

void AlignedTimer::adapt_window(std::size_t collisions, std::size_t calls) {
    constexpr double longer = 1.1;
    constexpr double shorter = 0.97;
    const bool has_many = static_cast<double>(collisions) > few_collisions * static_cast<double>(calls);
    window_ = std::clamp(window_ * (has_many ? longer : shorter), least_window, most_window);
}

bool AlignedTimer::is_agreed_after(const TimedCall& call) const {
#ifdef ISOCHRONE_SMPI
    static_cast<void>(call);
    return false;
#else
    return window_s(call) - gap_s_ - call.expected_s > agreement_s_ / 2 + lead_s_;
#endif
}

void AlignedTimer::keep_synchronised() {
    if (last_start_s_ < check_at_s_) return;
    const double begin = agreed_now();
    if (clock::drift(comm_, machines_, clock_) > 2 * clock_.error_s())
        clock_ = clock::synchronise(comm_, machines_);
    const double end = agreed_now();
    check_at_s_ = end + std::max(check_every_s, (end - begin) / check_share);
}

}  // namespace isochrone::mpi::bench
