// SPDX-License-Identifier: BSD-3-Clause
#include "clock/sync.hpp"

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

Offset measure(MPI_Comm comm, int exchanges) {
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
