// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/simulate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "compose/compose.hpp"
#include "schedule/builder.hpp"
#include "simulate/predict.hpp"
#include "support/random_layout.hpp"

namespace isochrone::tests {
namespace {

using namespace core;

const collectives::Collective& bcast = collectives::named("bcast");
using schedule::Builder;
using schedule::output_buffer;

constexpr double latency_s = 1e-6;
constexpr double send_overhead_s = 2e-7;
constexpr double receive_overhead_s = 3e-7;
constexpr double gap_0_s = 5e-7;
constexpr double s_per_byte = 1e-9;
constexpr double tolerance = 1e-12;  // seconds; times here are microseconds and more

double gap_s(std::int64_t size_bytes) { return gap_0_s + static_cast<double>(size_bytes) * s_per_byte; }

plogp::Parameters links(double latency = latency_s, double per_byte = s_per_byte, double capacity = 0) {
    return {.latency_s = latency,
            .send_overhead_s = {{{0, send_overhead_s}}},
            .receive_overhead_s = {{{0, receive_overhead_s}}},
            .gap_s = {{{0, gap_0_s}, {1 << 20, gap_0_s + (1 << 20) * per_byte}}},
            .capacity_bytes_per_s = capacity};
}

place::Layout one_group(int size) {
    return {size, {"node"}, {std::vector<int>(static_cast<std::size_t>(size), 0)}, {links()}};
}

/// `nodes` nodes of `cores` ranks, in block order. The last level's links are those inside a node.
place::Layout nodes_of(int nodes, int cores, double capacity = 0) {
    place::Layout layout{
        nodes * cores, {"machine", "node"}, {{}, {}}, {links(5e-6, s_per_byte, capacity), links()}};
    for (int rank = 0; rank < layout.size; ++rank) {
        layout.group_of[0].push_back(0);
        layout.group_of[1].push_back(rank / cores);
    }
    return layout;
}

double price(const std::string& recipe, const place::Layout& layout, std::int64_t size_bytes, int root = 0) {
    return simulate::predict(bcast, compose::parse_recipe(recipe), layout, root, size_bytes).slowest_s;
}

/// Rank r runs what `write` writes for it, on a message of `size_bytes`.
template <class Write>
simulate::Outcome run(const place::Layout& layout, std::int64_t size_bytes, Write&& write) {
    std::vector<schedule::Schedule> schedules;
    for (int rank = 0; rank < layout.size; ++rank) {
        Builder builder(layout.size, rank);
        write(builder, rank);
        schedules.push_back(builder.finish());
    }
    const schedule::Extents extents{size_bytes, 0, {}, {}, {}};
    return simulate::simulate(schedules, std::vector<schedule::Extents>(schedules.size(), extents), layout);
}

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

/// One group whose links take nothing but their bytes, 1e-9 s each.
place::Layout bare_group(int size) {
    auto layout = one_group(size);
    layout.links[0] = {.latency_s = 0,
                       .send_overhead_s = {},
                       .receive_overhead_s = {},
                       .gap_s = {{{0, 0.0}, {1 << 20, (1 << 20) * s_per_byte}}},
                       .capacity_bytes_per_s = 0};
    return layout;
}

TEST(MessagesToSeveralReceivers, DivideTheWayOfTheirSenderEqually) {
    // Of 1000, 2000 and 3000 bytes: when the first is there, 1000 bytes of each are; and so on.
    const auto outcome = run(bare_group(4), 6000, [](Builder& builder, int rank) {
        const int sixths = builder.even(6);
        const int first[] = {0, 0, 1, 3};
        for (int to = 1; to < 4 && rank == 0; ++to)
            builder.send(to, builder.blocks(output_buffer, sixths, first[to], to));
        if (rank > 0) builder.recv(0, builder.blocks(output_buffer, sixths, first[rank], rank));
    });
    EXPECT_NEAR(outcome.finish_s[1], 3e-6, tolerance);
    EXPECT_NEAR(outcome.finish_s[2], 5e-6, tolerance);
    EXPECT_NEAR(outcome.finish_s[3], 6e-6, tolerance);
    EXPECT_NEAR(outcome.finish_s[0], 6e-6, tolerance);
}

TEST(MessagesToOneReceiver, ComeInTheOrderInWhichTheyWereSent) {
    // Rank 1 passes the first of two on to rank 2, as soon as it is there.
    const auto outcome = run(bare_group(3), 2000, [](Builder& builder, int rank) {
        const int halves = builder.even(2);
        const auto half = [&](int which) { return builder.blocks(output_buffer, halves, which); };
        if (rank == 0) {
            builder.send(1, half(0));
            builder.send(1, half(1));
        } else if (rank == 1) {
            builder.recv(0, half(0));
            builder.send(2, half(0));
            builder.recv(0, half(1));
        } else {
            builder.recv(1, half(0));
        }
    });
    EXPECT_NEAR(outcome.finish_s[2], 2e-6, tolerance);
    EXPECT_NEAR(outcome.finish_s[1], 2e-6, tolerance);
}

TEST(MessagesToOneReceiver, AreOneShareOfAWayHoweverManyThereAre) {
    // Three to rank 1, one to rank 2, of 1000 bytes each.
    const auto outcome = run(bare_group(3), 4000, [](Builder& builder, int rank) {
        const int parts = builder.even(4);
        for (int part = 0; part < 4; ++part) {
            const int to = part < 3 ? 1 : 2;
            if (rank == 0) builder.send(to, builder.blocks(output_buffer, parts, part));
            if (rank == to) builder.recv(0, builder.blocks(output_buffer, parts, part));
        }
    });
    EXPECT_NEAR(outcome.finish_s[2], 2e-6, tolerance);
    EXPECT_NEAR(outcome.finish_s[1], 4e-6, tolerance);
}

TEST(AMessageThatComesLater, GetsItsShareFromThenOn) {
    // Rank 1 sends 1000 bytes to rank 0, which then sends to rank 1 what it has been sending to rank 2 for
    // 1000 bytes' time.
    const auto outcome = run(bare_group(3), 4000, [](Builder& builder, int rank) {
        const int parts = builder.even(4);
        const auto some = [&](int first, int count) {
            return builder.blocks(output_buffer, parts, first, count);
        };
        if (rank == 0) {
            builder.send(2, some(0, 3));
            builder.recv(1, some(3, 1));
            builder.send(1, some(3, 1));
        } else if (rank == 1) {
            builder.send(0, some(3, 1));
            builder.recv(0, some(0, 1));
        } else {
            builder.recv(0, some(0, 3));
        }
    });
    EXPECT_NEAR(outcome.finish_s[1], 3e-6, tolerance);
    EXPECT_NEAR(outcome.finish_s[2], 4e-6, tolerance);
}

TEST(WhatEachMessageTakesByItself, IsDoneInTheOrderOfMessages) {
    // Empty ones to three receivers: a gap after each other, not all after three.
    const auto outcome = simulate::predict(bcast, compose::parse_recipe("flat"), one_group(4), 0, 0);
    for (int rank = 1; rank < 4; ++rank) {
        EXPECT_NEAR(outcome.finish_s[static_cast<std::size_t>(rank)],
                    rank * gap_0_s + latency_s + receive_overhead_s, tolerance);
    }
}

TEST(ABinomialTreeOfLargeMessages, TakesAsManyMessagesAsAllRanksOfTheRootsLineHaveChildren) {
    // Of eight: 3 + 2 + 1 messages, since the largest part of the tree begins when the smallest does.
    const double message_s = (1 << 20) * s_per_byte;
    EXPECT_NEAR(price("binomial", bare_group(8), 1 << 20), 6 * message_s, 1e-9);
    // A chain of seven hops in eight segments: one after the other.
    EXPECT_NEAR(price("pipeline@131072", bare_group(8), 1 << 20), (1 + 6.0 / 8) * message_s, 1e-9);
}

TEST(ABinomialTreeOfLargeMessages, IsAsFastAsItsDepthIfOneIsSentAfterTheOther) {
    const auto outcome = run(bare_group(8), 1 << 20, [](Builder& builder, int rank) {
        builder.bound(1);
        const auto data = builder.whole(output_buffer);
        int low = rank == 0 ? 8 : rank & -rank;
        if (rank > 0) builder.recv(rank - low, data);
        for (low /= 2; low > 0; low /= 2) builder.send(rank + low, data);
    });
    EXPECT_NEAR(outcome.slowest_s, 3 * (1 << 20) * s_per_byte, 1e-9);
}

TEST(NoWay, GetsMoreThroughThanItsRate) {
    std::mt19937_64 random(8);
    for (int trial = 0; trial < 60; ++trial) {
        const int size = 2 + static_cast<int>(random() % 24);
        auto layout = random_layout(size, 3, random);
        layout.levels[1] = "node";
        const double capacity = 1e9;
        layout.links = {links(5e-6, s_per_byte, capacity), links(), links()};
        const char* const recipes[] = {"binomial", "knomial/4@3000", "flat", "scatter_rd_allgather",
                                       "hierarchical(machine=binomial,node=binomial)"};
        const std::int64_t size_bytes = static_cast<std::int64_t>(random() % 1000000);
        simulate::Timeline timeline{.most = 1'000'000};
        const auto outcome = simulate::predict(bcast, compose::parse_recipe(recipes[random() % 5]), layout, 0,
                                               size_bytes, {.timeline = &timeline});
        std::map<std::pair<int, int>, double> bytes;  // by side and rank, or by side and -1 - node
        for (const auto& step : timeline.steps) {
            if (step.kind != schedule::OpKind::send) continue;
            const int ends[] = {step.rank, step.peer};
            for (const int side : {0, 1}) {
                bytes[{side, ends[side]}] += static_cast<double>(step.size_bytes);
                const int node = layout.group_of[1][static_cast<std::size_t>(ends[side])];
                if (step.level == 0) bytes[{side, -1 - node}] += static_cast<double>(step.size_bytes);
            }
        }
        for (const auto& [way, load] : bytes) EXPECT_GE(outcome.slowest_s, load * s_per_byte);
    }
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

TEST(ANodesWayOut, IsSharedByItsRanks) {
    // Each rank of node 0 sends to the rank opposite in node 1: the node has the bandwidth of one pair.
    const int cores = 8;
    const std::int64_t size_bytes = 1 << 20;
    const auto opposite = [&](Builder& builder, int rank) {
        if (rank < cores)
            builder.send(rank + cores, builder.whole(output_buffer));
        else
            builder.recv(rank - cores, builder.whole(output_buffer));
    };
    const double ends_s = 5e-6 + receive_overhead_s;
    const double transfer_s = static_cast<double>(size_bytes) * s_per_byte;
    EXPECT_NEAR(run(nodes_of(2, cores), size_bytes, opposite).slowest_s, ends_s + cores * transfer_s, 1e-9);
    // Measured to carry four pairs at once.
    const auto wide = nodes_of(2, cores, 4 / s_per_byte);
    EXPECT_NEAR(run(wide, size_bytes, opposite).slowest_s, ends_s + cores * transfer_s / 4, 1e-9);
    // ... and more than there are: each has its own gap.
    const auto wider = nodes_of(2, cores, 2 * cores / s_per_byte);
    EXPECT_NEAR(run(wider, size_bytes, opposite).slowest_s, ends_s + gap_s(size_bytes), 1e-9);
}

TEST(ANodesWayOut, IsLoadedByWhatGoesFurtherThanTheNextLevelToo) {
    place::Layout layout{4,
                         {"machine", "switch", "node"},
                         {{0, 0, 0, 0}, {0, 0, 0, 1}, {0, 0, 1, 2}},
                         {links(), links(), links()}};
    // Both ranks of node 0 send, one to the other node of the switch, one beyond it.
    const std::int64_t size_bytes = 1 << 20;
    const auto outcome = run(layout, size_bytes, [](Builder& builder, int rank) {
        if (rank < 2)
            builder.send(rank + 2, builder.whole(output_buffer));
        else
            builder.recv(rank - 2, builder.whole(output_buffer));
    });
    EXPECT_NEAR(outcome.slowest_s,
                latency_s + 2 * static_cast<double>(size_bytes) * s_per_byte + receive_overhead_s, 1e-9);
}

TEST(InsideANode, NothingIsSharedUnlessItWasMeasured) {
    place::Layout layout{4, {"node", "socket"}, {{0, 0, 0, 0}, {0, 0, 1, 1}}, {links(), links()}};
    const auto across = [](Builder& builder, int rank) {
        if (rank < 2)
            builder.send(rank + 2, builder.whole(output_buffer));
        else
            builder.recv(rank - 2, builder.whole(output_buffer));
    };
    const double alone_s = latency_s + gap_s(1000) + receive_overhead_s;
    EXPECT_NEAR(run(layout, 1000, across).slowest_s, alone_s, tolerance);
    layout.links[0].capacity_bytes_per_s = 0.5 / s_per_byte;  // half of what one pair gets
    EXPECT_GT(run(layout, 1000, across).slowest_s, alone_s + 1000 * s_per_byte);
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
