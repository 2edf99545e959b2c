// SPDX-License-Identifier: BSD-3-Clause
//
// What a recipe is expected to take, after what those before took.
#include "select/expectation.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace isochrone::tests {
namespace {

using namespace core;
using select::Expectation;
using select::Shown;
using select::Tried;

select::Priced one(double seconds, double segments) { return {{}, seconds, segments}; }

TEST(ARecipe, IsExpectedToTakeWhatOthersTookBesideTheirPrices) {
    const auto expected = [](double seconds, double segments, std::vector<Tried> tried) {
        return Expectation(std::move(tried)).of(one(seconds, segments));
    };
    EXPECT_DOUBLE_EQ(expected(5, 4, {}), 5);
    // While nothing else is known it is due to segments.
    const Tried cut{one(10, 16), 42};
    EXPECT_DOUBLE_EQ(expected(5, 16, {cut}), 37);
    EXPECT_DOUBLE_EQ(expected(5, 1, {cut}), 7);
    // What could not run tells nothing, and nothing is expected to be faster than its price.
    EXPECT_DOUBLE_EQ(expected(5, 1, {cut, {one(1, 16), 0}}), 7);
    EXPECT_DOUBLE_EQ(expected(5, 8, {{one(10, 16), 4}}), 5);
    // What one segment took is not taken for what each of many takes.
    const Tried uncut{one(10, 1), 20};
    EXPECT_DOUBLE_EQ(expected(5, 16, {uncut}), 15);
    // Ranks that come late are waited for in any number of segments.
    const std::vector<Tried> late{{one(10, 16), 20}, {one(14, 1), 24}};
    EXPECT_DOUBLE_EQ(expected(5, 16, late), 15);
    EXPECT_DOUBLE_EQ(expected(5, 1, late), 15);
    // Both: 3, and 2 for each segment.
    const std::vector<Tried> both{{one(10, 16), 45}, {one(14, 1), 19}};
    EXPECT_NEAR(expected(5, 8, both), 24, 1e-9);
    // What lets many segments look as if they cost less than nothing is as much for all.
    EXPECT_NEAR(expected(5, 16, {{one(10, 16), 10}, uncut}), 10, 1e-9);
}

/// Kinds of calls differ in what their bytes take and in how late ranks come, and agree in their segments.
TEST(CallsOfOtherKinds, TellWhatASegmentTakesEachBesideItsOwnMean) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> some(1, 9);
    for (int trial = 0; trial < 20; ++trial) {
        const double each_s = some(random);
        Shown elsewhere;
        for (int kind = 0; kind < 3; ++kind) {
            std::vector<Tried> tried;
            const double all_s = 100 * some(random);
            for (const double segments : {1.0, 4.0, 32.0}) {
                const double price_s = some(random);
                tried.push_back({one(price_s, segments), price_s + all_s + each_s * segments});
            }
            elsewhere += Shown(tried);
        }
        EXPECT_NEAR(elsewhere.each_s(), each_s, 1e-9);
        // Before any of its own kind it tells which is faster, up to as many segments as were tried.
        const Expectation first({}, elsewhere);
        EXPECT_FALSE(first.is_measured());
        EXPECT_NEAR(first.of(one(7, 16)) - first.of(one(5, 1)), 2 + 15 * each_s, 1e-9);
        EXPECT_NEAR(first.of(one(5, 99)) - first.of(one(5, 32)), 0, 1e-9);
        // After one of its own the rest of what that took is due to all alike.
        const Expectation second({{one(10, 16), 12 + 16 * each_s}}, elsewhere);
        EXPECT_TRUE(second.is_measured());
        EXPECT_NEAR(second.of(one(5, 1)), 7 + each_s, 1e-9);
        EXPECT_NEAR(second.of(one(5, 99)), 7 + 32 * each_s, 1e-9);
        // It cannot have taken more for its segments than it took.
        EXPECT_NEAR(Expectation({{one(10, 16), 10.5}}, elsewhere).of(one(5, 0)), 5, 1e-9);
        // What differed among its own goes before.
        const std::vector<Tried> own{{one(10, 16), 26}, {one(10, 1), 11}};
        EXPECT_NEAR(Expectation(own, elsewhere).of(one(5, 8)), 13, 1e-9);
    }
}

TEST(CallsOfOtherKinds, TellNothingOfSegmentsIfAllWentInAsManyOrInFewer) {
    Shown same;
    same += Shown({{one(1, 16), 500}, {one(2, 16), 600}});
    same += Shown({{one(1, 1), 50}});
    EXPECT_FALSE(same.has_slope());
    EXPECT_DOUBLE_EQ(Expectation({}, same).of(one(5, 16)), 5);
    // Two segments took no longer than one: sixteen may.
    const Shown few({{one(1, 1), 5}, {one(1, 2), 5}});
    EXPECT_TRUE(few.has_slope());
    EXPECT_DOUBLE_EQ(Expectation({{one(10, 16), 42}}, few).of(one(5, 1)), 7);
    EXPECT_DOUBLE_EQ(Expectation({{one(10, 2), 14}}, few).of(one(5, 1)), 9);
}

}  // namespace
}  // namespace isochrone::tests
