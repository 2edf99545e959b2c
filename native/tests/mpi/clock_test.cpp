// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>

#include "clock/clock.hpp"
#include "clock/machines.hpp"
#include "clock/sync.hpp"

namespace isochrone::tests {
namespace {

namespace clock = mpi::clock;

TEST(Clock, IsCalibratedWithPositiveResolution) {
    const clock::Calibration calibration = clock::calibrate();
    EXPECT_GT(calibration.resolution_s, 0);
    EXPECT_GE(calibration.overhead_s, 0);
    EXPECT_LT(calibration.resolution_s, 1);
    EXPECT_LT(calibration.overhead_s, 1);
}

TEST(Clock, NeverWakesEarly) {
    const clock::Occupancy crowded{.ranks = 2, .cpus = 1};
    const clock::Occupancy roomy{.ranks = 1, .cpus = 1};
    for (const clock::Occupancy& occupancy : {crowded, roomy}) {
        const double until_s = clock::now() + 2e-3;
        clock::sleep_until(until_s, occupancy);
        EXPECT_GE(clock::now(), until_s);
        clock::sleep_until(until_s - 1, occupancy);  // a moment that has passed already: no wait
    }
}

TEST(Occupancy, CountsTheRanksAndCpusOfTheHost) {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const clock::Occupancy occupancy = clock::Machines(MPI_COMM_WORLD).occupancy();
    EXPECT_GE(occupancy.ranks, 1);
    EXPECT_LE(occupancy.ranks, ranks);
    EXPECT_GE(occupancy.cpus, 1);
}

TEST(SyncedClock, ConvertsBackAndForth) {
    const clock::SyncedClock clock(0.25, 1e-6);
    EXPECT_EQ(clock.to_global(1.0), 1.25);
    EXPECT_EQ(clock.to_local(clock.to_global(3.0)), 3.0);
}

TEST(SyncedClock, KeepsItsStatedErrorBetweenAllRanks) {
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const clock::SyncedClock synced = clock::synchronise(MPI_COMM_WORLD, clock::Machines(MPI_COMM_WORLD), 10);
    EXPECT_EQ(ranks == 1, synced.error_s() == 0);
    // Each rank sends its global time to the next one: it cannot arrive before it was sent, but for the error
    // of both.
    for (int receiver = 1; receiver < ranks; ++receiver) {
        if (rank == receiver - 1) {
            const double sent_s = synced.to_global(clock::now());
            MPI_Send(&sent_s, 1, MPI_DOUBLE, receiver, 0, MPI_COMM_WORLD);
        } else if (rank == receiver) {
            double sent_s = 0;
            MPI_Recv(&sent_s, 1, MPI_DOUBLE, receiver - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            EXPECT_GE(synced.to_global(clock::now()), sent_s - 2 * synced.error_s());
        }
    }
}

TEST(SyncedClock, FindsAClockThatWasSetWrong) {
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const clock::SyncedClock synced = clock::synchronise(MPI_COMM_WORLD, clock::Machines(MPI_COMM_WORLD), 10);
    constexpr double hour_s = 3600;
    const double offset_s = synced.to_global(0) + (rank == ranks - 1 && ranks > 1 ? hour_s : 0);
    const double drift_s =
        clock::drift(MPI_COMM_WORLD, clock::Machines(MPI_COMM_WORLD), {offset_s, synced.error_s()}, 10);
    EXPECT_NEAR(drift_s, ranks > 1 ? hour_s : 0, 60);
}

}  // namespace
}  // namespace isochrone::tests
