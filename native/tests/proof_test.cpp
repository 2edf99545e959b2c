// SPDX-License-Identifier: BSD-3-Clause
//
// What rounds of trials prove.
#include "trial/proof.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "trial/trial.hpp"

namespace isochrone::tests {
namespace {

using core::trial::News;
using core::trial::Trial;
using core::trial::Way;

TEST(ARound, HoldsTheMedianOfItsRatiosBetweenItsBoundsInThirtyOneOfThirtyTwo) {
    for (const std::size_t blocks : {6U, 9U, 12U, 15U, 18U}) {
        Trial::Round round;
        for (std::size_t block = 0; block < blocks; ++block)
            round.ratios.push_back(static_cast<double>(block));
        EXPECT_EQ(round.low() + round.high(), static_cast<double>(blocks - 1));
        // That all but `left_out` at either end, or fewer, are on one side of the median.
        const auto outside = [&](int left_out) {
            double chance = 0;
            double exactly = std::pow(0.5, blocks);
            for (int below = 0; below <= left_out; ++below) {
                chance += 2 * exactly;
                exactly *= static_cast<double>(blocks - static_cast<std::size_t>(below)) / (below + 1);
            }
            return chance;
        };
        const int left_out = static_cast<int>(round.low());
        EXPECT_LE(outside(left_out), 1.0 / 32) << blocks << " blocks";
        EXPECT_GT(outside(left_out + 1), 1.0 / 32) << blocks << " blocks";
    }
}

/// A recipe of a plan that takes as long as the library's own, or somewhat longer, stays for the most part.
TEST(ARecipe, ThatStaysIsNotTakenForFaster) {
    for (const double native_ms : {1.0, 0.97}) {
        int stayed = 0;
        int shown = 0;
        for (unsigned seed = 0; seed < 1000; ++seed) {
            std::mt19937 random(seed);
            std::normal_distribution<double> noise(0, 0.1);
            Trial trial = Trial::checking(2.0);
            for (int call = 0; call < 4000; ++call) {
                const double typical_ms = trial.next() == Way::challenger ? native_ms : 1.0;
                if (!trial.record(1e-3 * typical_ms * std::exp(noise(random)))) continue;
                const News news = trial.agreed(trial.recorded(), 1e-6);
                if (news == News::nothing) continue;
                core::trial::Proof proof;
                proof.add(trial.round(), false, true, news == News::lost);
                stayed += news == News::holds;
                shown += news == News::holds && proof.shows_gain();
                break;
            }
        }
        EXPECT_GT(stayed, 400);
        // The interval misses the median on either side 15 times in 1000.
        EXPECT_LE(shown, 0.015 * stayed);
    }
}

TEST(AProof, IsNoneOfARoundThatWasGivenUpSoon) {
    core::trial::Proof proof{
        .native_s = 2, .own_s = 1, .speedup = 2, .least = 1.9, .largest = 2.1, .blocks = 6};
    Trial::Round round;
    round.incumbent_s = 1;
    round.ratios = {2.1, 9};
    proof.add(round, false, true, false);
    EXPECT_EQ(proof.blocks, 6U);
    EXPECT_EQ(proof.largest, 2.1);
    round.ratios = {2.1, 2.2, 2.3, 2.4, 2.5, 9};
    proof.add(round, false, true, false);
    EXPECT_EQ(proof.largest, 9);
}

}  // namespace
}  // namespace isochrone::tests
