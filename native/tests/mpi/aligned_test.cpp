// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <vector>

#include "bench/aligned.hpp"

namespace isochrone::tests {
namespace {

using mpi::bench::AlignedTimer;
using mpi::bench::TimedCall;

bool same_everywhere(std::vector<double> values) {
    std::vector<double> others = values;
    MPI_Allreduce(MPI_IN_PLACE, others.data(), static_cast<int>(others.size()), MPI_DOUBLE, MPI_MAX,
                  MPI_COMM_WORLD);
    return std::equal(values.begin(), values.end(), others.begin());
}

TEST(AlignedTimer, TellsAllRanksWhatTheSlowestTookForEachCallOfABlock) {
    AlignedTimer timer(MPI_COMM_WORLD);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    constexpr double slow_s = 3e-3;
    std::vector<TimedCall> calls;
    for (int i = 0; i < 5; ++i) {
        // Only rank 0 is slow, and only in every other call.
        const bool is_slow = i % 2 == 0;
        calls.push_back({[rank, is_slow] {
                             if (rank == 0 && is_slow) mpi::clock::sleep_for(slow_s);
                         },
                         is_slow ? 2 * slow_s : 1e-4});
    }
    const auto taken = timer.time(calls);
    ASSERT_EQ(taken.size(), calls.size());
    EXPECT_TRUE(same_everywhere(taken));
    for (std::size_t i = 0; i < taken.size(); ++i) {
        EXPECT_GT(taken[i], 0);
        if (i % 2 == 0) {
            EXPECT_GE(taken[i], slow_s);
        }
    }
}

TEST(AlignedTimer, RunsACallAgainWhoseWindowTheOneBeforeItWasStillIn) {
    AlignedTimer timer(MPI_COMM_WORLD);
    int first = 0;
    int second = 0;
    // So much longer than is said that no try has a window that is long enough.
    const std::vector<TimedCall> calls = {{[&first] {
                                               ++first;
                                               mpi::clock::sleep_for(16e-3);
                                           },
                                           1e-6},
                                          {[&second] { ++second; }, 1e-6}};
    const auto taken = timer.time(calls);
    EXPECT_GE(first, 1);
    EXPECT_GE(second, 2);
    EXPECT_TRUE(
        same_everywhere({taken[0], taken[1], static_cast<double>(first), static_cast<double>(second)}));
    EXPECT_GE(taken[0], 16e-3);
}

TEST(AlignedTimer, AgreesAnewAfterACallThatIsLong) {
    AlignedTimer timer(MPI_COMM_WORLD);
    int second = 0;
    // What its window has to spare is more than agreeing takes, so none is needed, and none is overrun.
    const double expected_s = 5 * timer.block_s();
    const std::vector<TimedCall> calls = {{[&] { mpi::clock::sleep_for(2 * expected_s); }, expected_s},
                                          {[&second] { ++second; }, 1e-6}};
    const auto taken = timer.time(calls);
    EXPECT_TRUE(same_everywhere(taken));
    EXPECT_GE(taken[0], 2 * expected_s);
    // Where ranks have processors of their own, to be late is another reason to try again.
    if (timer.oversubscribed()) {
        EXPECT_EQ(second, 1);
    }
}

TEST(AlignedTimer, HasNothingToDoForNoCalls) {
    AlignedTimer timer(MPI_COMM_WORLD);
    EXPECT_TRUE(timer.time({}).empty());
}

}  // namespace
}  // namespace isochrone::tests
