// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <numeric>
#include <utility>
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

/// Of each call, made again where its start was missed.
std::vector<double> taken_by(AlignedTimer& timer, std::vector<TimedCall> calls) {
    std::vector<double> taken(calls.size());
    std::vector<std::size_t> left(calls.size());
    std::iota(left.begin(), left.end(), 0);
    while (!left.empty()) {
        std::vector<TimedCall> block;
        for (const std::size_t i : left) block.push_back(calls[i]);
        const auto timings = timer.time(block);
        std::vector<std::size_t> missed;
        for (std::size_t k = 0; k < left.size(); ++k) {
            taken[left[k]] = timings[k].taken_s;
            if (!timings[k].is_missed) continue;
            missed.push_back(left[k]);
            ++calls[left[k]].missed;
        }
        left = std::move(missed);
    }
    return taken;
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
    const auto taken = taken_by(timer, calls);
    ASSERT_EQ(taken.size(), calls.size());
    EXPECT_TRUE(same_everywhere(taken));
    for (std::size_t i = 0; i < taken.size(); ++i) {
        EXPECT_GT(taken[i], 0);
        if (i % 2 == 0) {
            EXPECT_GE(taken[i], slow_s);
        }
    }
}

TEST(AlignedTimer, SaysWhichCallsStartedInTheWindowOfTheOneBeforeUntilTheyWereTriedAFewTimes) {
    AlignedTimer timer(MPI_COMM_WORLD);
    // So much longer than is said that no try has a window that is long enough.
    const auto first = [] { mpi::clock::sleep_for(16e-3); };
    int missed = 0;
    for (int tries = 0; tries < 5; ++tries) {
        const std::vector<TimedCall> calls = {{first, 1e-8, tries}, {[] {}, 1e-8, tries}};
        const auto timings = timer.time(calls);
        EXPECT_TRUE(same_everywhere({timings[0].taken_s, timings[1].taken_s,
                                     static_cast<double>(timings[0].is_missed),
                                     static_cast<double>(timings[1].is_missed)}));
        EXPECT_GE(timings[0].taken_s, 16e-3);
        missed += timings[1].is_missed ? 1 : 0;
    }
    EXPECT_EQ(missed, 4);
}

TEST(AlignedTimer, AgreesAnewAfterACallThatIsLong) {
    AlignedTimer timer(MPI_COMM_WORLD);
    int second = 0;
    // What its window has to spare is more than agreeing takes, so none is needed, and none is overrun.
    const double expected_s = 5 * timer.block_s();
    const std::vector<TimedCall> calls = {{[&] { mpi::clock::sleep_for(2 * expected_s); }, expected_s},
                                          {[&second] { ++second; }, 1e-6}};
    const auto timings = timer.time(calls);
    EXPECT_TRUE(same_everywhere({timings[0].taken_s, timings[1].taken_s}));
    EXPECT_GE(timings[0].taken_s, 2 * expected_s);
    EXPECT_EQ(second, 1);
    // Where ranks have processors of their own, one may be late for another reason.
    if (timer.oversubscribed()) {
        EXPECT_FALSE(timings[1].is_missed);
    }
}

TEST(AlignedTimer, HasNothingToDoForNoCalls) {
    AlignedTimer timer(MPI_COMM_WORLD);
    EXPECT_TRUE(timer.time({}).empty());
}

}  // namespace
}  // namespace isochrone::tests
