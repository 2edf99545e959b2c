// SPDX-License-Identifier: BSD-3-Clause
#include "clock/sync.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "clock/clock.hpp"
#include "comm/check.hpp"

namespace isochrone::mpi::clock {

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

/// By a binomial tree of ping-pongs.
Offset measure_by_messages(MPI_Comm comm, int exchanges) {
    const int rank = comm::rank_in(comm);
    const int size = comm::size_of(comm);
    exchanges = std::max(exchanges, 1);
    Offset own;
    // The parent of a rank is the rank without its lowest bit; its children add a bit below that one.
    int bit = 1;
    while (bit < size && (rank & bit) == 0) bit <<= 1;
    if (rank != 0) own = ask(comm, rank & ~bit, exchanges);
    for (bit >>= 1; bit > 0; bit >>= 1) {
        if (rank + bit < size) answer(comm, rank + bit, exchanges, own);
    }
    return own;
}

#ifndef ISOCHRONE_SMPI

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

Offset measure(MPI_Comm comm, int exchanges) {
    if (comm::size_of(comm) == 1) return {};
    MPI_Comm machine = split_by_machine(comm);
    MPI_Comm leaders = MPI_COMM_NULL;
    const bool leads = comm::rank_in(machine) == 0;
    comm::check(MPI_Comm_split(comm, leads ? 0 : MPI_UNDEFINED, 0, &leaders), "MPI_Comm_split");
    const Offset own = read_system_clock();
    std::array<double, 2> shared{};  // what to add to the system's clock to get rank 0's, and the error
    if (leads) {
        const Offset across = measure_by_messages(leaders, exchanges);
        shared = {own.offset_s + across.offset_s, own.error_s + across.error_s};
        comm::check(MPI_Comm_free(&leaders), "MPI_Comm_free");
    }
    comm::check(MPI_Bcast(shared.data(), 2, MPI_DOUBLE, 0, machine), "MPI_Bcast");
    comm::check(MPI_Comm_free(&machine), "MPI_Comm_free");
    return {shared[0] - own.offset_s, shared[1] + own.error_s};
}

#endif

double largest(MPI_Comm comm, double value) {
    comm::check(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, comm), "MPI_Allreduce");
    return value;
}

}  // namespace

#ifdef ISOCHRONE_SMPI

// Simulated ranks have one clock, and messages to find that out would take most of the time of a simulation.
SyncedClock synchronise(MPI_Comm /*comm*/, int /*exchanges*/) { return {0, 0}; }

double drift(MPI_Comm /*comm*/, const SyncedClock& /*clock*/, int /*exchanges*/) { return 0; }

#else

SyncedClock synchronise(MPI_Comm comm, int exchanges) {
    const Offset own = measure(comm, exchanges);
    return {own.offset_s, largest(comm, own.error_s)};
}

double drift(MPI_Comm comm, const SyncedClock& clock, int exchanges) {
    const Offset again = measure(comm, exchanges);
    return largest(comm, std::abs(again.offset_s - clock.to_global(0)));
}

#endif

}  // namespace isochrone::mpi::clock
