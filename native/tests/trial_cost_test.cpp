// SPDX-License-Identifier: BSD-3-Clause
//
// What trials cost a program: its calls on the slower way, and agreements.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "support/trial_world.hpp"
#include "trial/trial.hpp"

namespace isochrone::tests {
namespace {

using core::trial::News;
using core::trial::Trial;

class TheCostOfAChallenger : public testing::TestWithParam<double> {};

TEST_P(TheCostOfAChallenger, ThatIsSlowerCostsAtMostItsShareOnceItsFirstBlockIsMadeUpFor) {
    const double ratio = GetParam();
    // The model is right, or thinks it is faster.
    for (const double price_s : {0.0, 1e-4}) {
        World world{.ratio = ratio, .price_s = price_s};
        Trial trial = Trial::seeking();
        const double first_block_s = 2 * (ratio - 1) * world.incumbent_s;
        for (int i = 0; i < 200000; ++i) {
            world.call(trial);
            ASSERT_LE(world.lost_s, first_block_s + 0.02 * world.best_s) << "after " << i + 1 << " calls";
        }
        EXPECT_FALSE(world.is_swapped);
        EXPECT_LE(world.lost_s, 0.02 * world.best_s);
    }
}

TEST_P(TheCostOfAChallenger, ThatIsSlowerCostsNoMoreThanItsShareBeyondWhatSettingItUpCost) {
    const double ratio = GetParam();
    for (const double set_up_s : {1e-3, 10e-3, 1.0}) {
        World world{.ratio = ratio, .price_s = 1e-4, .set_up_s = set_up_s};
        Trial trial = Trial::seeking();
        const double first_block_s = 2 * (ratio - 1) * world.incumbent_s + set_up_s;
        for (int i = 0; i < 20000; ++i) {
            world.call(trial);
            ASSERT_LE(world.lost_s, first_block_s + 0.02 * world.best_s) << "after " << i + 1 << " calls";
        }
        EXPECT_FALSE(world.is_swapped);
    }
}

/// Of small calls an agreement takes longer than a call.
TEST_P(TheCostOfAChallenger, CostsNoMoreThanItsShareWithAllAgreements) {
    for (const double ratio : {GetParam(), 1 / GetParam(), 0.97}) {
        for (const double agreement_s : {1e-3, 3e-3, 10e-3}) {
            World world{.ratio = ratio, .price_s = 0.5e-3, .agreement_s = agreement_s};
            Trial trial = Trial::seeking();
            const double first_s = 2 * std::max(0.0, ratio - 1) * world.incumbent_s + 2 * agreement_s;
            for (int i = 0; i < 20000; ++i) {
                world.call(trial);
                ASSERT_LE(world.spent_s, (i + 1) * 1.02 * world.incumbent_s + first_s)
                    << "after " << i + 1 << " calls, agreements of " << agreement_s << " s";
            }
            if (ratio < 0.9) {
                EXPECT_TRUE(world.is_swapped) << agreement_s;
            }
        }
    }
}

TEST_P(TheCostOfAChallenger, OfAProvenWayThatIsSlowerCostsAPercentAtMostInTheLongRun) {
    const double ratio = GetParam();
    for (const double agreement_s : {0.0, 1e-3, 2.5e-3}) {
        World world{.ratio = ratio, .agreement_s = agreement_s};
        Trial trial = Trial::checking(ratio);
        world.calls(trial, static_cast<int>(std::max(400.0, 500 * ratio)));
        EXPECT_FALSE(world.is_swapped);
        // What an agreement takes is known after the first.
        EXPECT_LE(world.spent_s, 1.01 * world.best_s + agreement_s) << agreement_s;
    }
}

TEST_P(TheCostOfAChallenger, OfAWayThatTakesWhatWasMeasuredCostsAPercentAtMostAtAnyTime) {
    const double ratio = GetParam();
    for (const double agreement_s : {0.0, 1e-3, 2.5e-3}) {
        for (const double drift : {0.85, 1.0, 1.2}) {
            World world{
                .ratio = ratio, .agreement_s = agreement_s, .measured_s = 1e-3 * drift, .claimed = ratio};
            Trial trial = Trial::comparing();
            const int looks = static_cast<int>(400 * (ratio - 1));
            for (int i = 0; i < 2 * looks + 400; ++i) {
                world.call(trial);
                // What an agreement takes is known after the next.
                ASSERT_LE(world.spent_s, 1.01 * world.best_s + 2 * agreement_s) << "after " << i + 1;
            }
            EXPECT_FALSE(world.is_swapped);
            // Nor is it never looked at.
            EXPECT_NE(std::count(world.ran_challenger.begin(), world.ran_challenger.end(), true), 0);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Ratios, TheCostOfAChallenger, testing::Values(1.2, 1.5, 2, 3, 10, 100));

/// Calls until the challenger runs, of which one takes as long as an agreement or less.
int calls_until_found(double ratio, double agreement_s, int most) {
    World world{.ratio = ratio, .agreement_s = agreement_s};
    Trial trial = Trial::seeking();
    for (int calls = 1; calls <= most; ++calls) {
        world.call(trial);
        if (world.is_swapped) return calls;
    }
    return std::numeric_limits<int>::max();
}

TEST(ATrial, OfSmallCallsFindsAFasterWayWithinSomeHundred) {
    constexpr double call_s = 1e-3;
    // Of the first calls, and after the first block, after three, and after six.
    constexpr int beside_agreements = 4 * core::trial::calls_of_an_agreement;
    for (const double calls : {0.0, 1.0}) {
        EXPECT_LE(calls_until_found(0.5, calls * call_s, 2000), 50 + beside_agreements);
        EXPECT_LE(calls_until_found(0.7, calls * call_s, 2000), 50 + beside_agreements);
    }
    EXPECT_LE(calls_until_found(0.5, 2.5 * call_s, 2000), 250);
    EXPECT_LE(calls_until_found(0.7, 2.5 * call_s, 2000), 500);
}

/// As where a rank comes late to a step of a program: the others wait as long as a thousand calls take.
TEST(ATrial, IsNotStarvedByCallsThatWaitForALateRank) {
    constexpr unsigned programs = 200;
    for (const double ratio : {0.6, 0.8, 0.9}) {
        int found = 0;
        for (unsigned seed = 0; seed < programs; ++seed) {
            World world{.incumbent_s = 20e-6,
                        .ratio = ratio,
                        .held_up = 0.1,
                        .held_up_by = 2500,
                        .agreement_s = 20e-6,
                        .random = std::mt19937_64(seed)};
            Trial trial = Trial::seeking();
            world.calls(trial, 3000);
            if (world.is_swapped) ++found;
        }
        EXPECT_GE(found, 180) << ratio;
    }
}

/// Where a call takes much longer than an agreement, blocks that may lose are agreed on one by one.
TEST(ATrial, AgreesOnBlocksTogetherThatDoNotLoseMoreThanAnAgreement) {
    const auto blocks_of_agreements = [](double ratio, double agreement_s) {
        World world{.ratio = ratio, .agreement_s = agreement_s};
        Trial trial = Trial::seeking();
        std::vector<long> found;
        for (int agreements = 0; world.rounds == 0;) {
            world.call(trial);
            if (world.agreements == agreements) continue;
            agreements = world.agreements;
            found.push_back(std::count(world.ran_challenger.begin(), world.ran_challenger.end(), true) / 2);
        }
        return found;
    };
    EXPECT_EQ(blocks_of_agreements(0.7, 1e-6), (std::vector<long>{0, 1, 3, 6}));
    EXPECT_EQ(blocks_of_agreements(0.97, 1e-6), (std::vector<long>{0, 1, 3, 6}));
    EXPECT_EQ(blocks_of_agreements(1.2, 1e-6), (std::vector<long>{0, 1, 2, 3}));
    EXPECT_EQ(blocks_of_agreements(1.2, 1e-3), (std::vector<long>{0, 1, 3}));
    EXPECT_EQ(blocks_of_agreements(3, 1e-6), (std::vector<long>{0, 1, 2}));
}

/// What is slower need not lose six blocks before another is tried. What is faster hardly ever begins so.
TEST(ATrial, IsOverOnceItsFirstBlocksAreAllAgainstIt) {
    constexpr int programs = 1000;
    const auto given_up = [](double ratio, double noise) {
        int count = 0;
        for (unsigned seed = 0; seed < programs; ++seed) {
            World world{.ratio = ratio, .noise = noise, .random = std::mt19937_64(seed)};
            Trial trial = Trial::seeking();
            while (world.rounds == 0) world.call(trial);
            if (!world.is_swapped && trial.round().ratios.size() < core::trial::blocks_of_a_round) ++count;
        }
        return count;
    };
    EXPECT_EQ(given_up(1.2, 0), programs);
    EXPECT_GE(given_up(1.2, 0.1), 0.8 * programs);
    EXPECT_LE(given_up(0.9, 0.1), 0.02 * programs);
    EXPECT_LE(given_up(0.8, 0.2), 0.02 * programs);
}

TEST(ATrial, AsksForAChallengerNoSoonerThanThatCanBeAfforded) {
    for (const double agreement_s : {1e-3, 3e-3}) {
        Trial trial = Trial::seeking();
        Agreeing agreeing;
        int agreements = 0;
        for (int calls = 1; calls <= 5000; ++calls) {
            if (!agreeing.is_there(trial.record(1e-3))) continue;
            ASSERT_EQ(trial.agreed(trial.recorded(), agreements > 0 ? agreement_s : 0), News::seeks);
            ++agreements;
            trial.wait_until(calls);
            // What the first two take is not known before them.
            EXPECT_LE(std::max(0, agreements - 2) * agreement_s, core::trial::trial_share * calls * 1e-3);
        }
        EXPECT_GE(agreements, 4);
    }
}

TEST(ATrial, AgreesSeldom) {
    World world{.ratio = 3};
    Trial trial = Trial::seeking();
    world.calls(trial, 100000);
    EXPECT_LE(world.agreements, 25);
}

}  // namespace
}  // namespace isochrone::tests
