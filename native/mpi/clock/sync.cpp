// SPDX-License-Identifier: BSD-3-Clause
#include "clock/sync.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "clock/clock.hpp"
#include "comm/check.hpp"

namespace isochrone::mpi::clock {

#ifdef ISOCHRONE_SMPI

// Simulated ranks have one clock, and messages to find that out would take most of the time of a simulation.
SyncedClock synchronise(MPI_Comm /*comm*/, const Machines& /*machines*/, int /*exchanges*/) { return {0, 0}; }

double drift(MPI_Comm /*comm*/, const Machines& /*machines*/, const SyncedClock& /*clock*/,
             int /*exchanges*/) {
    return 0;
}

#else

namespace {

constexpr int tag = 77;

struct Offset {
    double offset_s = 0;
    double error_s = 0;
};

/// The child's half: asks its parent for rank 0's time, which comes with the parent's own error.
Offset ask(MPI_Comm comm, int parent, int exchanges) {
    Offset best;
    double least_rtt_s = std::numeric_limits<double>::infinity();
    for (int i = 0; i < exchanges; ++i) {
        std::array<double, 2>
            answer{};  // rank 0's time as the parent believes, and by how much it may be wrong
        const double asked_s = now();
        comm::check(MPI_Send(nullptr, 0, MPI_DOUBLE, parent, tag, comm), "MPI_Send");
        comm::check(MPI_Recv(answer.data(), 2, MPI_DOUBLE, parent, tag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
        const double answered_s = now();
        const double rtt_s = answered_s - asked_s;
        if (rtt_s < least_rtt_s) {
            least_rtt_s = rtt_s;
            best = {answer[0] - (asked_s + rtt_s / 2), answer[1] + rtt_s / 2};
        }
    }
    return best;
}

/// The parent's half.
void answer(MPI_Comm comm, int child, int exchanges, const Offset& own) {
    for (int i = 0; i < exchanges; ++i) {
        comm::check(MPI_Recv(nullptr, 0, MPI_DOUBLE, child, tag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
        const std::array<double, 2> time{now() + own.offset_s, own.error_s};
        comm::check(MPI_Send(time.data(), 2, MPI_DOUBLE, child, tag, comm), "MPI_Send");
    }
}

/// By a binomial tree of ping-pongs between these ranks; this one is at `own` among them.
Offset measure_by_messages(MPI_Comm comm, const std::vector<int>& ranks, std::size_t own, int exchanges) {
    exchanges = std::max(exchanges, 1);
    Offset offset;
    // The parent of one is that without its lowest bit; its children add a bit below that one.
    std::size_t bit = 1;
    while (bit < ranks.size() && (own & bit) == 0) bit <<= 1;
    if (own != 0) offset = ask(comm, ranks[own & ~bit], exchanges);
    for (bit >>= 1; bit > 0; bit >>= 1) {
        if (own + bit < ranks.size()) answer(comm, ranks[own + bit], exchanges, offset);
    }
    return offset;
}

/// What to add to the system's clock to get this rank's now(). Not the monotonic clock: containers may have
/// one of their own.
Offset read_system_clock() {
    constexpr int reads = 50;
    constexpr time_t recent = 1'700'000'000;  // seconds since 1970 would leave a double 0.2 us
    Offset best{0, std::numeric_limits<double>::infinity()};
    for (int i = 0; i < reads; ++i) {
        timespec time{};
        const double before_s = now();
        clock_gettime(CLOCK_REALTIME, &time);
        const double after_s = now();
        const double error_s = (after_s - before_s) / 2;
        if (error_s >= best.error_s) continue;
        const double system_s =
            static_cast<double>(time.tv_sec - recent) + static_cast<double>(time.tv_nsec) * 1e-9;
        best = {before_s + error_s - system_s, error_s};
    }
    return best;
}

Offset measure(MPI_Comm comm, const Machines& machines, int exchanges) {
    const std::vector<int>& first = machines.first();
    const auto rank = static_cast<std::size_t>(comm::rank_in(comm));
    if (first.size() == 1) return {};
    const Offset own = read_system_clock();
    std::array<double, 2> shared{};  // what to add to the system's clock to get rank 0's, and the error
    if (first[rank] == static_cast<int>(rank)) {
        std::vector<int> leaders;
        for (std::size_t other = 0; other < first.size(); ++other) {
            if (first[other] == static_cast<int>(other)) leaders.push_back(first[other]);
        }
        const auto at = std::lower_bound(leaders.begin(), leaders.end(), static_cast<int>(rank));
        const Offset across =
            measure_by_messages(comm, leaders, static_cast<std::size_t>(at - leaders.begin()), exchanges);
        shared = {own.offset_s + across.offset_s, own.error_s + across.error_s};
        for (std::size_t other = rank + 1; other < first.size(); ++other) {
            if (first[other] != static_cast<int>(rank)) continue;
            comm::check(MPI_Send(shared.data(), 2, MPI_DOUBLE, static_cast<int>(other), tag, comm),
                        "MPI_Send");
        }
    } else {
        comm::check(MPI_Recv(shared.data(), 2, MPI_DOUBLE, first[rank], tag, comm, MPI_STATUS_IGNORE),
                    "MPI_Recv");
    }
    return {shared[0] - own.offset_s, shared[1] + own.error_s};
}

double largest(MPI_Comm comm, double value) {
    comm::check(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, comm), "MPI_Allreduce");
    return value;
}

}  // namespace

SyncedClock synchronise(MPI_Comm comm, const Machines& machines, int exchanges) {
    const Offset own = measure(comm, machines, exchanges);
    return {own.offset_s, largest(comm, own.error_s)};
}

double drift(MPI_Comm comm, const Machines& machines, const SyncedClock& clock, int exchanges) {
    const Offset again = measure(comm, machines, exchanges);
    return largest(comm, std::abs(again.offset_s - clock.to_global(0)));
}

#endif

}  // namespace isochrone::mpi::clock
