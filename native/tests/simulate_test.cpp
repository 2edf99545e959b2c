// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/simulate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "support/plain_links.hpp"
#include "support/random_layout.hpp"

namespace isochrone::tests {
namespace {

using namespace core;
using schedule::Builder;
using schedule::output_buffer;

TEST(OneMessage, CostsItsLatencyItsGapAndTheReceiversOverhead) {
    for (const std::int64_t size_bytes : {0, 1, 1000, 1 << 20, 5 << 20}) {
        EXPECT_NEAR(price("flat", one_group(2), size_bytes),
                    latency_s + gap_s(size_bytes) + receive_overhead_s, tolerance);
    }
}

TEST(OneMessage, LeavesItsSenderAfterTheGap) {
    const auto outcome = simulate::predict(bcast, compose::parse_recipe("flat"), one_group(2), 0, 1000);
    EXPECT_NEAR(outcome.finish_s[0], gap_s(1000), tolerance);
    EXPECT_DOUBLE_EQ(outcome.slowest_s, outcome.finish_s[1]);
}

TEST(OneRankAlone, NeedsNoTime) { EXPECT_EQ(price("binomial", one_group(1), 1000), 0); }

TEST(TheFlatBroadcast, CostsOneGapForEachMessageOfTheRoot) {
    for (int size = 2; size <= 20; ++size) {
        EXPECT_NEAR(price("flat", one_group(size), 1000),
                    (size - 1) * gap_s(1000) + latency_s + receive_overhead_s, tolerance);
    }
}

TEST(TheFlatBroadcast, CostsOneOverheadForEachMessageWhereThatIsLongerThanTheGap) {
    auto layout = one_group(9);
    layout.links[0].gap_s = {};
    EXPECT_NEAR(price("flat", layout, 1000), 7 * send_overhead_s + latency_s + receive_overhead_s, tolerance);
}

TEST(WhatEachMessageTakesByItself, IsDoneInTheOrderOfMessages) {
    // Empty ones to three receivers: a gap after each other, not all after three.
    const auto outcome = simulate::predict(bcast, compose::parse_recipe("flat"), one_group(4), 0, 0);
    for (int rank = 1; rank < 4; ++rank) {
        EXPECT_NEAR(outcome.finish_s[static_cast<std::size_t>(rank)],
                    rank * gap_0_s + latency_s + receive_overhead_s, tolerance);
    }
}

TEST(TheChain, CostsAllOfItsHops) {
    EXPECT_NEAR(price("chain", one_group(9), 1000), 8 * (latency_s + gap_s(1000) + receive_overhead_s),
                tolerance);
}

/// Links on which messages of 64 KiB and more are sent by rendezvous, or all at once.
plogp::Parameters slow_links(bool rendezvous) {
    constexpr double far_s = 2e-3;
    plogp::Parameters slow = links(far_s, 8e-9);
    slow.gap_s = {};
    for (const std::int64_t bytes : {0, 1024, 32768, 65536, 1 << 20}) {
        slow.gap_s.points.emplace_back(
            bytes, 8e-9 * static_cast<double>(bytes) + (rendezvous && bytes >= 65536 ? 2 * far_s : 0));
    }
    return slow;
}

TEST(OneMessageByRendezvous, CostsItsRoundTrip) {
    auto layout = one_group(2);
    for (const std::int64_t size_bytes : {65536, 1 << 20, 5 << 20}) {
        layout.links[0] = slow_links(false);
        const double eager_s = price("flat", layout, size_bytes);
        layout.links[0] = slow_links(true);
        EXPECT_NEAR(price("flat", layout, size_bytes), eager_s + 4e-3, tolerance);
    }
}

TEST(MessagesByRendezvous, WaitForTheirAnswersTogether) {
    auto layout = one_group(2);
    for (const std::int64_t size_bytes : {1 << 20, 4 << 20}) {
        layout.links[0] = slow_links(false);
        const double eager_s = price("pipeline@65536", layout, size_bytes);
        layout.links[0] = slow_links(true);
        EXPECT_NEAR(price("pipeline@65536", layout, size_bytes), eager_s + 4e-3, 1e-3);
        EXPECT_NEAR(price("pipeline@32768", layout, size_bytes), eager_s, 1e-3);
    }
}

TEST(MessagesByRendezvous, AreNotOvertakenByASmallerOneThatIsSentWithoutAsking) {
    auto layout = one_group(3);
    layout.links[0] = slow_links(true);
    // The last segment is of one byte: it would be taken for the one before it.
    for (const auto* recipe : {"pipeline@65536", "binomial@65536", "flat@65536"}) {
        for (const std::int64_t size_bytes : {65537, 131073, 524289}) {
            EXPECT_GE(price(recipe, layout, size_bytes), price(recipe, layout, size_bytes - 1));
        }
    }
}

TEST(MessagesByRendezvous, WaitInTurnsWhereTheWindowIsNarrow) {
    auto layout = one_group(2);
    layout.links[0] = slow_links(true);
    const auto recipe = compose::parse_recipe("pipeline@65536");
    for (const int window : {1, 2, 4}) {
        const double found_s =
            simulate::predict(bcast, recipe, layout, 0, 1 << 20, {.window = window}).slowest_s;
        EXPECT_GE(found_s, 16.0 / window * 4e-3);
        EXPECT_GT(found_s, price("pipeline@65536", layout, 1 << 20));
    }
}

TEST(TheWaitInsideABlockingSend, IsNotChargedToSendsThatDoNotBlock) {
    auto layout = one_group(9);
    layout.links[0].send_overhead_s = {{{0, send_overhead_s}, {1000, 1.0}}};
    EXPECT_NEAR(price("flat", layout, 1000),
                7 * (send_overhead_s + gap_s(1000)) + latency_s + gap_s(1000) + receive_overhead_s,
                tolerance);
}

TEST(AChainOfHops, BeatsTheFlatBroadcastForLargeMessagesAndLosesForSmallOnes) {
    auto layout = one_group(16);
    EXPECT_LT(price("pipeline@65536", layout, 8 << 20), price("flat", layout, 8 << 20));
    layout.links[0].gap_s = {{{0, 1e-8}}};
    EXPECT_GT(price("chain", layout, 1), price("flat", layout, 1));
}

TEST(TheBinomialTree, NeedsOneRoundForEachDoublingOfTheRanks) {
    auto layout = one_group(64);
    layout.links[0] = {.latency_s = latency_s, .send_overhead_s = {}, .receive_overhead_s = {}, .gap_s = {}};
    EXPECT_NEAR(price("binomial", layout, 1), 6 * latency_s, tolerance);
}

TEST(ThePipeline, TendsToTheBandwidthOfOneLink) {
    auto layout = one_group(8);
    layout.links[0] = {.latency_s = latency_s,
                       .send_overhead_s = {},
                       .receive_overhead_s = {},
                       .gap_s = {{{0, 0.0}, {1 << 20, (1 << 20) * s_per_byte}}}};
    const std::int64_t size_bytes = 256 << 20;
    const double bound_s = static_cast<double>(size_bytes) * s_per_byte;
    const double found_s = price("pipeline@65536", layout, size_bytes);
    EXPECT_GE(found_s, bound_s);
    EXPECT_LT(found_s, 1.01 * bound_s);
    EXPECT_NEAR(found_s, bound_s + 7 * latency_s + 6 * 65536 * s_per_byte, 1e-9);
}

TEST(APipelineWithAWindowOfOne, SendsItsSegmentsAsFastAsEagerSendsLeave) {
    const auto layout = one_group(2);
    const auto recipe = compose::parse_recipe("pipeline@1000");
    const double one_s = simulate::predict(bcast, recipe, layout, 0, 100000, {.window = 1}).slowest_s;
    const double four_s = simulate::predict(bcast, recipe, layout, 0, 100000, {.window = 4}).slowest_s;
    EXPECT_NEAR(one_s, 100 * gap_s(1000) + latency_s + receive_overhead_s, tolerance);
    EXPECT_NEAR(one_s, four_s, tolerance);
}

TEST(AReceiverOfSeveralMessages, TakesThemInOneAfterTheOther) {
    const auto layout = one_group(5);
    const auto outcome = run(layout, 1000, [&](Builder& builder, int rank) {
        const int partition = builder.even(4);
        if (rank > 0) {
            builder.send(0, builder.blocks(schedule::input_buffer, partition, rank - 1));
            return;
        }
        for (int source = 1; source < 5; ++source) {
            builder.recv(source, builder.blocks(output_buffer, partition, source - 1));
        }
    });
    EXPECT_NEAR(outcome.slowest_s, latency_s + 4 * gap_s(250) + receive_overhead_s, tolerance);
}

TEST(ALateReceive, FindsTheMessageThatCameEarly) {
    const auto layout = one_group(3);
    // Rank 2 first waits for rank 1, which first waits for rank 0; rank 0's message to rank 2 has long been
    // there.
    const auto outcome = run(layout, 1000, [&](Builder& builder, int rank) {
        const auto data = builder.whole(output_buffer);
        if (rank == 0) {
            builder.send(2, data);
            builder.send(1, data);
        } else if (rank == 1) {
            builder.recv(0, data);
            builder.send(2, data);
        } else {
            builder.recv(1, data);
            builder.recv(0, data);
        }
    });
    const double at_1_s = 2 * gap_s(1000) + latency_s + receive_overhead_s;
    EXPECT_NEAR(outcome.slowest_s, at_1_s + latency_s + gap_s(1000) + 2 * receive_overhead_s, tolerance);
}

TEST(LocalWork, CostsGammaForEachByte) {
    const auto outcome = run(one_group(1), 1000, [](Builder& builder, int) {
        builder.copy(builder.whole(schedule::input_buffer), builder.whole(output_buffer));
    });
    EXPECT_NEAR(outcome.slowest_s, 1000 * simulate::Options{}.gamma_s_per_byte, 1e-15);
}

TEST(LocalWork, BeginsAfterTheMessagesThatCanLeaveThen) {
    // Each copies first, by its schedule: the message is on its way meanwhile.
    const std::int64_t size_bytes = 1000;
    const auto outcome = run(one_group(2), size_bytes, [](Builder& builder, int rank) {
        builder.copy(builder.whole(schedule::input_buffer), builder.whole(output_buffer));
        if (rank == 0) builder.send(1, builder.whole(schedule::input_buffer));
        if (rank == 1) builder.recv(0, builder.whole(builder.scratch()));
    });
    EXPECT_NEAR(outcome.finish_s[1], gap_s(size_bytes) + latency_s + receive_overhead_s, tolerance);
}

TEST(TheBytesOfEachLevel, AreThoseThatCrossThere) {
    const auto layout = nodes_of(4, 4);
    const auto outcome = simulate::predict(
        bcast, compose::parse_recipe("hierarchical(machine=binomial,node=flat)"), layout, 5, 1000);
    EXPECT_EQ(outcome.messages, 15);
    EXPECT_EQ(outcome.level_bytes, (std::vector<std::int64_t>{3000, 12000}));
}

TEST(TheLibrarysBroadcastInsideEachNode, StartsWhenTheLastRankHasComeAndEndsForAllAtOnce) {
    const auto layout = nodes_of(2, 4);
    const auto outcome = simulate::predict(
        bcast, compose::parse_recipe("hierarchical(machine=flat,node=native)"), layout, 0, 1000);
    EXPECT_NEAR(outcome.finish_s[4],
                5e-6 + gap_s(1000) + receive_overhead_s + 2 * (latency_s + gap_0_s + receive_overhead_s) +
                    1000 * s_per_byte,
                tolerance);
    EXPECT_EQ(outcome.finish_s[4], outcome.finish_s[7]);
    EXPECT_LT(outcome.finish_s[3], outcome.finish_s[4]);
}

/// The same program with rank r called names[r].
std::vector<schedule::Schedule> renamed(const std::vector<schedule::Schedule>& schedules,
                                        const std::vector<int>& names) {
    std::vector<schedule::Schedule> result(schedules.size());
    for (const auto& schedule : schedules) {
        auto copy = schedule;
        copy.rank = names[static_cast<std::size_t>(schedule.rank)];
        for (auto& op : copy.ops) {
            if (op.peer >= 0) op.peer = names[static_cast<std::size_t>(op.peer)];
        }
        result[static_cast<std::size_t>(copy.rank)] = std::move(copy);
    }
    return result;
}

TEST(TheNamesOfTheRanks, DoNotChangeThePrice) {
    std::mt19937_64 random(5);
    for (int trial = 0; trial < 30; ++trial) {
        const int size = 2 + static_cast<int>(random() % 30);
        const auto layout = random_layout(size, 3, random);
        const auto resolved = compose::resolve(
            bcast, compose::parse_recipe("hierarchical(machine=binary,level-2=flat)@4096"), layout);
        std::vector<schedule::Schedule> schedules;
        for (int rank = 0; rank < size; ++rank)
            schedules.push_back(compose::schedule_of(resolved, layout, rank, 0));
        std::vector<int> names(static_cast<std::size_t>(size));
        std::iota(names.begin(), names.end(), 0);
        std::shuffle(names.begin(), names.end(), random);
        std::vector<int> old_names(names.size());
        for (std::size_t r = 0; r < names.size(); ++r)
            old_names[static_cast<std::size_t>(names[r])] = static_cast<int>(r);
        const std::vector<schedule::Extents> extents(schedules.size(), {50000, 4096, {}, {}, {}});
        const auto before = simulate::simulate(schedules, extents, layout);
        const auto after =
            simulate::simulate(renamed(schedules, names), extents, layout.restricted_to(old_names));
        for (std::size_t r = 0; r < names.size(); ++r) {
            EXPECT_NEAR(before.finish_s[r], after.finish_s[static_cast<std::size_t>(names[r])], tolerance);
        }
        EXPECT_EQ(before.level_bytes, after.level_bytes);
    }
}

TEST(NoBroadcast, IsFasterThanEachRanksOwnMessageFromItsNearestCouldBe) {
    std::mt19937_64 random(6);
    for (int trial = 0; trial < 100; ++trial) {
        const int size = 2 + static_cast<int>(random() % 40);
        auto layout = random_layout(size, 3, random);
        layout.links = {links(9e-6), links(3e-6), links()};
        const char* const recipes[] = {"flat",
                                       "chain",
                                       "binary",
                                       "knomial/3",
                                       "ordered(binomial)@3000",
                                       "scatter_allgather",
                                       "hierarchical(machine=binomial,level-1=chain,level-2=flat)@1000"};
        const int root = static_cast<int>(random() % static_cast<unsigned>(size));
        const std::int64_t size_bytes = static_cast<std::int64_t>(random() % 100000);
        const auto outcome =
            simulate::predict(bcast, compose::parse_recipe(recipes[random() % 7]), layout, root, size_bytes);
        for (int rank = 0; rank < size; ++rank) {
            if (rank == root) continue;
            // Whatever the way, the message crosses the level at which the rank meets the root, and comes in
            // byte by byte.
            const double crossing_s =
                layout.links[static_cast<std::size_t>(layout.meet(root, rank))].latency_s;
            EXPECT_GE(
                outcome.finish_s[static_cast<std::size_t>(rank)],
                crossing_s + static_cast<double>(size_bytes) * s_per_byte + receive_overhead_s - tolerance);
        }
    }
}

TEST(TheSameInput, GivesTheSameOutcomeToTheLastBit) {
    std::mt19937_64 random(7);
    const auto layout = random_layout(33, 4, random);
    const auto recipe =
        compose::parse_recipe("hierarchical(machine=scatter_allgather,level-2=binomial)@5000");
    const auto first = simulate::predict(bcast, recipe, layout, 3, 123457);
    const auto second = simulate::predict(bcast, recipe, layout, 3, 123457);
    EXPECT_EQ(first.finish_s, second.finish_s);
}

TEST(AGathervWhoseCountsTravel, IsPricedLikeAnyOtherSchedule) {
    const auto layout = nodes_of(3, 3);
    const auto& gatherv = collectives::named("gatherv");
    const auto recipe = "hierarchical(" + layout.levels[0] + "=flat," + layout.levels[1] + "=flat)";
    const auto outcome = simulate::predict(gatherv, compose::parse_recipe(recipe), layout, 0, 1000);
    EXPECT_EQ(outcome.level_bytes[0], 2 * 3000);  // data; the root knows the counts
    EXPECT_EQ(outcome.level_bytes[1],
              6000 + 4 * 8);  // the leaders of the two other nodes learn two counts each
}

TEST(AnAllreduceInSegments, IsPricedInBytesOfItsElements) {
    const auto layout = nodes_of(2, 3);
    const auto recipe = compose::parse_recipe("hierarchical(" + layout.levels[0] + "=binomial," +
                                              layout.levels[1] + "=flat)@100");
    const auto resolved = compose::resolve(collectives::named("allreduce"), recipe, layout);
    std::vector<schedule::Schedule> schedules;
    for (int rank = 0; rank < layout.size; ++rank) {
        schedules.push_back(compose::schedule_of(resolved, layout, rank, 0));
    }
    const std::vector<schedule::Extents> extents(schedules.size(), {1000, 100, {}, {}, {}});
    const auto outcome = simulate::simulate(schedules, extents, layout, {.unit_bytes = 8});
    EXPECT_EQ(outcome.level_bytes, (std::vector<std::int64_t>{2 * 8000, 8 * 8000}));
}

TEST(SchedulesThatWaitForEachOther, ArePricedWithAnErrorNotForEver) {
    const auto both_wait = [](Builder& builder, int rank) {
        builder.recv(1 - rank, builder.whole(output_buffer));
        builder.send(1 - rank, builder.whole(output_buffer));
    };
    EXPECT_THROW(run(one_group(2), 8, both_wait), std::invalid_argument);
}

TEST(EndsOfAMessageThatDifferInLength, AreAnError) {
    const auto mismatch = [](Builder& builder, int rank) {
        if (rank == 0)
            builder.send(1, builder.whole(output_buffer));
        else
            builder.recv(0, builder.blocks(output_buffer, builder.even(2), 0));
    };
    EXPECT_THROW(run(one_group(2), 8, mismatch), std::invalid_argument);
}

TEST(WhatTakesLongerThanTheLimit, TakesInfinitelyLong) {
    const auto layout = nodes_of(4, 4);
    const auto recipe = compose::parse_recipe("chain");
    const auto limited = [&](double limit_s) {
        return simulate::predict(bcast, recipe, layout, 0, 1 << 20, {.limit_s = limit_s}).slowest_s;
    };
    const double takes_s = price("chain", layout, 1 << 20);
    EXPECT_EQ(limited(takes_s), takes_s);
    EXPECT_EQ(limited(0.999 * takes_s), std::numeric_limits<double>::infinity());
}

TEST(WhatCannotBePriced, IsRefused) {
    const auto layout = one_group(4);
    EXPECT_THROW(price("native", layout, 8), std::invalid_argument);
    EXPECT_THROW(price("binomial", layout, 8, 4), std::invalid_argument);
    EXPECT_THROW(price("binomial", layout, -1), std::invalid_argument);
    EXPECT_THROW(price("hierarchical(rack=flat)", layout, 8), std::invalid_argument);
    EXPECT_THROW(price("chain@1", layout, std::int64_t{1} << 40), std::invalid_argument);
}

}  // namespace
}  // namespace isochrone::tests
