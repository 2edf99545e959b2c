// SPDX-License-Identifier: BSD-3-Clause
//
// Ways that several messages share: out of and into a rank, and a group of ranks.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

#include "support/plain_links.hpp"
#include "support/random_layout.hpp"

namespace isochrone::tests {
namespace {

using namespace core;
using schedule::Builder;
using schedule::output_buffer;

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

TEST(NoMessage, OvertakesAnEarlierOneOfItsPair) {
    // A few bytes among more ranks: blocks of nothing and of a byte, between pairs that have exchanged
    // others. One that came in another's place would have its length.
    std::mt19937_64 random(9);
    const char* const recipes[] = {"scatter_allgather", "ordered(scatter_allgather)",
                                   "hierarchical(machine=scatter_allgather,node=scatter_allgather)"};
    for (int trial = 0; trial < 400; ++trial) {
        auto layout = random_layout(2 + static_cast<int>(random() % 29), 3, random);
        layout.levels = {"machine", "node", "socket"};
        for (auto& link : layout.links) {
            // Where bytes take no time, several messages come at one moment.
            const double per_byte = random() % 2 == 0 ? 0 : s_per_byte;
            const auto pairs = static_cast<double>(random() % 3);  // that it carries at once, where measured
            link = links(latency_s * static_cast<double>(random() % 6), per_byte, pairs / s_per_byte);
            if (random() % 3 == 0) link.gap_s = {};
            if (random() % 3 == 0) link.send_overhead_s = {};
        }
        const auto bytes = static_cast<std::int64_t>(random() % 8);
        EXPECT_NO_THROW(price(recipes[random() % 3], layout, bytes)) << "trial " << trial;
    }
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

}  // namespace
}  // namespace isochrone::tests
