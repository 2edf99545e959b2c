// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "probe/saturation.hpp"

namespace isochrone::tests {
namespace {

using mpi::probe::Saturation;
using Burst = std::function<double(std::int64_t count)>;  // how long it takes

constexpr std::int64_t first = 10;
constexpr std::int64_t longest = 1280;

struct Measured {
    double gap_s = 0;
    std::int64_t longest = 0;
};

Measured measure(const Burst& burst) {
    Saturation saturation;
    std::int64_t count = first;
    for (;; count *= 2) {
        saturation.add(count, {burst(count), burst(count), burst(count)});
        if (saturation.reached() || 2 * count > longest) return {saturation.gap_s(), count};
    }
}

/// Messages that each take `gap_s`, and a latency that is `scatter_s` off.
Burst noisy(double gap_s, double scatter_s, std::mt19937_64& random) {
    return [=, &random](std::int64_t count) {
        return 3e-6 + static_cast<double>(count) * gap_s +
               std::normal_distribution<double>(0, scatter_s)(random);
    };
}

TEST(Saturation, IsReachedAtOnceWhereBurstsAreAlike) {
    const Measured found =
        measure([](std::int64_t count) { return 3e-6 + static_cast<double>(count) * 60e-9; });
    EXPECT_EQ(found.longest, 4 * first);
    EXPECT_NEAR(found.gap_s, 60e-9, 1e-15);
}

TEST(Saturation, IsNotReachedWhileThereIsRoomForMessages) {
    const Measured found = measure([](std::int64_t count) {
        const auto n = static_cast<double>(count);
        return 3e-6 + 60e-9 * (n - 100 * (1 - std::exp(-n / 100)));
    });
    EXPECT_NEAR(found.gap_s, 60e-9, 0.01 * 60e-9);
}

TEST(Saturation, IsReachedWhereNoiseLetsNoSlopeBeTheSame) {
    std::mt19937_64 random(1);
    constexpr int pairs = 400;
    int long_ones = 0;
    int wrong = 0;
    for (int pair = 0; pair < pairs; ++pair) {
        const Measured found = measure(noisy(60e-9, 130e-9, random));
        if (found.longest > 640) ++long_ones;
        if (std::abs(found.gap_s - 60e-9) > 0.05 * 60e-9) ++wrong;
    }
    EXPECT_LT(long_ones, pairs / 10);
    EXPECT_LT(wrong, pairs / 10);
}

TEST(Saturation, IsNotReachedByChance) {
    // Short bursts scatter by as much as they take, and every hundredth slope is the same as the one before.
    std::mt19937_64 random(1);
    for (int pair = 0; pair < 400; ++pair) {
        const Measured found = measure(noisy(60e-9, 500e-9, random));
        EXPECT_NEAR(found.gap_s, 60e-9, 0.3 * 60e-9);
    }
}

TEST(Saturation, LeavesTheLeastUncertainSlopeWhereLongBurstsAreDisturbed) {
    int bursts = 0;
    const Measured found = measure([&](std::int64_t count) {
        const double late_s = count < 80 ? 0.3e-6 * (bursts % 3) : 50e-6 * bursts;
        ++bursts;
        return 3e-6 + static_cast<double>(count) * 300e-9 + late_s;
    });
    EXPECT_EQ(found.longest, longest);
    EXPECT_NEAR(found.gap_s, 300e-9, 1e-15);
}

TEST(Saturation, ManagesWithOneBurstOfEachLength) {
    Saturation saturation;
    for (const std::int64_t count : {10, 20, 40})
        saturation.add(count, {3e-6 + static_cast<double>(count) * 60e-9});
    EXPECT_TRUE(saturation.reached());
    EXPECT_NEAR(saturation.gap_s(), 60e-9, 1e-15);
}

}  // namespace
}  // namespace isochrone::tests
