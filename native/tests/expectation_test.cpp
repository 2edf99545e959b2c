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
using select::SegmentCost;
using select::Tried;

select::Priced one(double seconds, double segments) { return {{}, seconds, segments}; }

SegmentCost cost_of(const std::vector<std::vector<Tried>>& kinds) {
    SegmentCost cost;
    for (const auto& tried : kinds) cost.add(tried);
    return cost;
}

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

/// The sum of squares of what is left of those tried.
double left(const std::vector<Tried>& tried, double all_s, double each_s) {
    double sum = 0;
    for (const auto& [priced, measured_s] : tried) {
        const double beside_s = measured_s - priced.seconds - all_s - each_s * priced.segments;
        sum += beside_s * beside_s;
    }
    return sum;
}

TEST(WhatIsExpected, IsTheBestFitThatIsNotBelowZero) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> some(-10, 10);
    for (int trial = 0; trial < 200; ++trial) {
        std::vector<Tried> tried;
        for (const double segments : {1.0, 8.0, 32.0})
            tried.push_back({one(100, segments), 100 + some(random)});
        const Expectation expected(tried);
        const double each_s = (expected.of(one(0, 32)) - expected.of(one(0, 1))) / 31;
        const double all_s = expected.of(one(0, 1)) - each_s;
        EXPECT_GE(each_s, 0);
        EXPECT_GE(all_s, -1e-12);
        const double least = left(tried, all_s, each_s) - 1e-9;
        constexpr double step = 1e-3;
        for (const double more_s : {-step, 0.0, step}) {
            for (const double more_each_s : {-step, 0.0, step}) {
                if (all_s + more_s < 0 || each_s + more_each_s < 0) continue;
                EXPECT_GE(left(tried, all_s + more_s, each_s + more_each_s), least) << trial;
            }
        }
    }
}

/// Kinds of calls differ in what their bytes take and in how late ranks come, and agree in their segments.
TEST(CallsOfOtherKinds, TellWhatASegmentTakesEachBesideItsOwnMean) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> some(1, 9);
    for (int trial = 0; trial < 20; ++trial) {
        const double each_s = some(random);
        std::vector<std::vector<Tried>> kinds;
        for (const double most : {4.0, 32.0, 8.0}) {
            auto& tried = kinds.emplace_back();
            const double all_s = 100 * some(random);
            for (const double segments : {1.0, 2.0, most}) {
                const double price_s = some(random);
                tried.push_back({one(price_s, segments), price_s + all_s + each_s * segments});
            }
        }
        kinds.push_back({{one(1, 64), 900}});  // all in as many
        const SegmentCost elsewhere = cost_of(kinds);
        EXPECT_TRUE(elsewhere.is_known());
        EXPECT_NEAR(elsewhere.each_s(), each_s, 1e-9);
        EXPECT_EQ(elsewhere.most_segments(), 32);
        // Before any of its own kind was measured a recipe is expected to take its price.
        const Expectation none({{one(3, 8), 0}}, elsewhere);
        EXPECT_FALSE(none.is_measured());
        EXPECT_DOUBLE_EQ(none.of(one(7, 16)), 7);
        // After one of its own the rest of what that took is due to all alike.
        const Expectation first({{one(10, 16), 12 + 16 * each_s}}, elsewhere);
        EXPECT_TRUE(first.is_measured());
        EXPECT_NEAR(first.of(one(5, 1)), 7 + each_s, 1e-9);
        EXPECT_NEAR(first.of(one(5, 99)), 7 + 32 * each_s, 1e-9);
        // It cannot have taken more for its segments than it took.
        EXPECT_NEAR(Expectation({{one(10, 16), 10.5}}, elsewhere).of(one(5, 1)), 5 + 0.5 / 16, 1e-9);
        // What differed among its own goes before.
        const std::vector<Tried> own{{one(10, 16), 26}, {one(10, 1), 11}};
        EXPECT_NEAR(Expectation(own, elsewhere).of(one(5, 8)), 13, 1e-9);
    }
}

TEST(CallsOfOtherKinds, TellOfSegmentsAllTogether) {
    // One says that they cost 2, another that they save 1: a third counts less, as it differs in fewer.
    const SegmentCost elsewhere = cost_of({{{one(1, 1), 10}, {one(1, 5), 18}},
                                           {{one(1, 1), 10}, {one(1, 5), 6}},
                                           {{one(1, 1), 10}, {one(1, 2), 13}}});
    EXPECT_NEAR(elsewhere.each_s(), (16 - 8 + 1.5) / 16.5, 1e-12);
}

TEST(CallsOfOtherKinds, TellNothingOfSegmentsIfAllWentInAsManyOrInFewer) {
    const SegmentCost same = cost_of({{{one(1, 16), 500}, {one(2, 16), 600}}, {{one(1, 1), 50}}});
    EXPECT_FALSE(same.is_known());
    EXPECT_EQ(same.each_s(), 0);
    EXPECT_DOUBLE_EQ(Expectation({{one(10, 16), 42}}, same).of(one(5, 1)), 7);
    // Two segments took no longer than one: sixteen may.
    const SegmentCost few = cost_of({{{one(1, 1), 5}, {one(1, 2), 5}}});
    EXPECT_TRUE(few.is_known());
    EXPECT_DOUBLE_EQ(Expectation({{one(10, 16), 42}}, few).of(one(5, 1)), 7);
    EXPECT_DOUBLE_EQ(Expectation({{one(10, 2), 14}}, few).of(one(5, 1)), 9);
}

}  // namespace
}  // namespace isochrone::tests
