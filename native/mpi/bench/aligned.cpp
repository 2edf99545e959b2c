// SPDX-License-Identifier: BSD-3-Clause
#include "bench/aligned.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "comm/check.hpp"

namespace isochrone::mpi::bench {
namespace {

/// On a fast network; a slow one is given as much as it needs.
constexpr double longest_lead_s = 5e-3;

#ifdef ISOCHRONE_SMPI
constexpr int samples = 1;

/// Two binomial trees of our own: simulated messages cost real time, and these are the fewest.
void maximum(MPI_Comm comm, double* values, int count) {
    constexpr int tag = 0;
    const int size = comm::size_of(comm);
    const int rank = comm::rank_in(comm);
    std::array<double, 2> other{};
    int step = 1;
    for (; step < size && rank % (2 * step) == 0; step *= 2) {
        if (rank + step >= size) continue;
        comm::check(MPI_Recv(other.data(), count, MPI_DOUBLE, rank + step, tag, comm, MPI_STATUS_IGNORE),
                    "MPI_Recv");
        for (int i = 0; i < count; ++i) values[i] = std::max(values[i], other[static_cast<std::size_t>(i)]);
    }
    if (rank != 0) {
        comm::check(MPI_Send(values, count, MPI_DOUBLE, rank - step, tag, comm), "MPI_Send");
        comm::check(MPI_Recv(values, count, MPI_DOUBLE, rank - step, tag, comm, MPI_STATUS_IGNORE),
                    "MPI_Recv");
    }
    for (step /= 2; step >= 1; step /= 2) {
        if (rank + step < size)
            comm::check(MPI_Send(values, count, MPI_DOUBLE, rank + step, tag, comm), "MPI_Send");
    }
}
#else
constexpr int samples = 5;

void maximum(MPI_Comm comm, double* values, int count) {
    comm::check(PMPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_MAX, comm), "MPI_Allreduce");
}
#endif

}  // namespace

AlignedTimer::AlignedTimer(MPI_Comm comm)
    : comm_(comm),
      occupancy_(clock::occupancy(comm)),
      oversubscribed_(clock::oversubscribed_anywhere(comm, occupancy_)),
      clock_(clock::synchronise(comm)) {
    // The lead must cover what the slowest rank takes to learn of the start: a few times the allreduce that
    // tells it.
    double fastest = std::numeric_limits<double>::max();
    for (int i = 0; i < samples; ++i) {
        const double begin = clock::now();
        double ignored = 0;
        maximum(comm_, &ignored, 1);
        fastest = std::min(fastest, clock::now() - begin);
    }
    maximum(comm_, &fastest, 1);
    least_lead_s_ = 3 * fastest + 2 * clock_.error_s();
    lead_s_ = least_lead_s_;
}

double AlignedTimer::time(const std::function<void()>& operation) {
    // Where ranks wait for a processor, some are late however often one tries.
    const int tries = oversubscribed_ ? 1 : 5;
    for (int attempt = 1;; ++attempt) {
        double start = clock_.to_global(clock::now());
        maximum(comm_, &start, 1);
        start += lead_s_;
        clock::sleep_until(clock_.to_local(start), occupancy_);
        const double begin = clock_.to_global(clock::now());
        operation();
        const double end = clock_.to_global(clock::now());
        std::array<double, 2> latest = {end, begin};
        maximum(comm_, latest.data(), 2);
        const double late = latest[1] - start;
        const double taken = latest[0] - start;
        if (late <= std::max(0.02 * taken, clock_.error_s())) {
            lead_s_ = std::max(least_lead_s_, 0.9 * lead_s_);
            return taken;
        }
        // To count from when the last one began would leave out what the others had done by then.
        if (attempt == tries) return taken;
        lead_s_ = std::max(least_lead_s_, std::min(longest_lead_s, 1.5 * lead_s_));
    }
}

void AlignedTimer::resynchronise() {
    if (clock::drift(comm_, clock_) > 2 * clock_.error_s()) clock_ = clock::synchronise(comm_);
}

}  // namespace isochrone::mpi::bench
