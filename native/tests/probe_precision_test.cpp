// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "probe/budget.hpp"
#include "probe/precision.hpp"

namespace isochrone::tests {
namespace {

using mpi::probe::Budget;
using mpi::probe::interval_rank;
using mpi::probe::interval_width;
using mpi::probe::known_to;
using mpi::probe::least_values;
using mpi::probe::next_look;

/// How many values a pair has when it is asked after each look, drawn by `draw`.
template <typename Draw>
std::size_t values_taken(double share, std::size_t most, Draw draw) {
    std::vector<double> values;
    while (values.size() < most && !known_to(share, values)) {
        const std::size_t next = next_look(values.size(), most);
        while (values.size() < next) values.push_back(draw());
    }
    return values.size();
}

TEST(Interval, EndsAtTheOrderStatisticsOfTheTables) {
    // The columns for 95 % of published tables of the sign test's interval; 5 values attain it with no rank.
    const std::map<std::size_t, std::size_t> known = {
        {1, 0},  {5, 0},  {6, 1},  {7, 1},  {8, 1},  {9, 2},   {10, 2},  {11, 2},  {12, 3},
        {15, 4}, {16, 4}, {17, 5}, {20, 6}, {25, 8}, {30, 10}, {50, 18}, {75, 29}, {100, 40}};
    for (const auto& [count, rank] : known) EXPECT_EQ(interval_rank(count), rank) << count << " values";
}

TEST(Interval, HoldsTheMedianAsOftenAsPromisedAndNoOftener) {
    for (std::size_t count = 6; count <= 100; ++count) {
        const std::size_t rank = interval_rank(count);
        // P(Bin(n, 1/2) < k) from Pascal's triangle.
        std::vector<double> row = {1};
        for (std::size_t n = 1; n <= count; ++n) {
            std::vector<double> next(n + 1, 0.0);
            for (std::size_t k = 0; k < n; ++k) {
                next[k] += row[k] / 2;
                next[k + 1] += row[k] / 2;
            }
            row = next;
        }
        double below = 0;
        for (std::size_t k = 0; k < rank; ++k) below += row[k];
        EXPECT_LE(below, 0.025) << count << " values";
        EXPECT_GT(below + row[rank], 0.025) << count << " values";
    }
}

TEST(Interval, OfVeryManyValuesFollowsTheNormalDistribution) {
    for (const std::size_t count : {2000U, 100000U, 1000000U}) {
        const double n = static_cast<double>(count);
        EXPECT_NEAR(static_cast<double>(interval_rank(count)), n / 2 - 0.98 * std::sqrt(n), 2);
    }
}

TEST(Interval, IsAsWideAsItsEndsAreApart) {
    // Of nine values the second and the eighth: (17 - 11) / 14.
    EXPECT_DOUBLE_EQ(interval_width({18, 10, 17, 11, 16, 12, 15, 13, 14}), 6.0 / 14);
    EXPECT_DOUBLE_EQ(interval_width({10, 11, 12, 13, 14, 15, 16, 17, 1000}), 6.0 / 14);
    EXPECT_EQ(interval_width({1, 1, 1, 1, 1}), std::numeric_limits<double>::infinity());
    EXPECT_EQ(interval_width(std::vector<double>(20, 0.0)), 0);
}

TEST(Repetitions, EndEarlyWhereTimesAreAlike) {
    EXPECT_EQ(values_taken(0.05, 1000, [] { return 1.5; }), least_values);
    EXPECT_EQ(values_taken(0.05, 1000, [] { return 0.0; }), least_values);
    int calls = 0;
    EXPECT_EQ(values_taken(0.05, 1000, [&] { return ++calls == 4 ? 100.0 : 1.0; }), least_values);
}

TEST(Repetitions, GoToTheirLimitWhereTimesAreFarApart) {
    std::mt19937_64 random(1);
    const auto wide = [&] { return std::lognormal_distribution<>(0, 1)(random); };
    for (const std::size_t most : {1U, 5U, 9U, 10U, 60U}) EXPECT_EQ(values_taken(0.05, most, wide), most);
}

TEST(Repetitions, AreTheMoreTheMoreNoiseThereIs) {
    const auto taken = [](double noise) {
        std::mt19937_64 random(1);
        return values_taken(0.05, 100000, [&] { return std::lognormal_distribution<>(0, noise)(random); });
    };
    EXPECT_LT(taken(0.01), taken(0.1));
    EXPECT_LT(taken(0.1), taken(0.3));
    EXPECT_LT(taken(0.3), 100000U);
}

/// The time that so many pairs take in the budget: each as long as it may, but at least `least_s`, and each
/// step so much longer.
double spent_s(double budget_s, std::int64_t pairs, double least_s, double beside_s) {
    Budget budget(budget_s);
    double spent = 0;
    std::int64_t batch = 1;
    for (std::int64_t first = 0; first < pairs;) {
        const double allowed_s = budget.pair_s(spent, pairs - first);
        batch = std::min(pairs - first, budget.batch(batch, pairs - first));
        const double took_s = static_cast<double>(batch) * (std::max(allowed_s, least_s) + beside_s);
        spent += took_s;
        budget.learn(took_s, batch, allowed_s);
        first += batch;
        batch *= 4;
    }
    return spent;
}

TEST(ABudget, IsSpentWhateverAStepTakesBesideItsPair) {
    for (const std::int64_t pairs : {1, 3, 10, 100, 5000}) {
        for (const double beside : {0.0, 0.2, 0.9}) {
            const double share_s = 1.0 / static_cast<double>(pairs);
            const double spent = spent_s(1.0, pairs, 0.0, beside * share_s);
            EXPECT_GT(spent, 0.85) << pairs << " pairs, " << beside;
            EXPECT_LT(spent, pairs < 10 ? 1.95 : 1.1) << pairs << " pairs, " << beside;
        }
    }
}

TEST(ABudget, LeavesTheLeastWhereItIsTooSmall) {
    EXPECT_NEAR(spent_s(1.0, 1000, 0.01, 0), 10.0, 0.01);
    EXPECT_EQ(Budget(1.0).pair_s(2.0, 10), 0.0);
}

TEST(ABudget, LimitsNothingWhereThereIsNone) {
    Budget none(0);
    none.learn(100, 1, 1);
    EXPECT_EQ(none.pair_s(1e9, 1), std::numeric_limits<double>::infinity());
    EXPECT_EQ(none.batch(2048, 5), 2048);
}

}  // namespace
}  // namespace isochrone::tests
