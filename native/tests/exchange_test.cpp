// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/exchange.hpp"

#include <gtest/gtest.h>

#include <random>

namespace isochrone::tests {
namespace {

using namespace core;
using simulate::Flow;
using simulate::Processors;

constexpr double latency_s = 1e-6;
constexpr double far_s = 5e-6;
constexpr double send_overhead_s = 2e-7;
constexpr double receive_overhead_s = 3e-7;
constexpr double gap_0_s = 5e-7;
constexpr double s_per_byte = 1e-9;
constexpr double tolerance = 1e-12;
constexpr std::int64_t most = 1 << 20;

double gap_s(std::int64_t size_bytes) { return gap_0_s + static_cast<double>(size_bytes) * s_per_byte; }

plogp::Parameters links(double latency, double overhead, double capacity = 0) {
    return {.latency_s = latency,
            .send_overhead_s = {{{0, overhead}}},
            .receive_overhead_s = {{{0, receive_overhead_s}}},
            .gap_s = {{{0, gap_0_s}, {1 << 20, gap_s(1 << 20)}}},
            .capacity_bytes_per_s = capacity};
}

/// Racks of nodes of `cores` ranks each, two by two. Links between racks have three times the send overhead.
place::Layout racks(int cores, double capacity = 0) {
    place::Layout layout{4 * cores,
                         {"machine", "rack", "node"},
                         {{}, {}, {}},
                         {links(far_s, 3 * send_overhead_s, capacity), links(latency_s, send_overhead_s),
                          links(latency_s, send_overhead_s)}};
    for (int rank = 0; rank < layout.size; ++rank) {
        layout.group_of[0].push_back(0);
        layout.group_of[1].push_back(rank / (2 * cores));
        layout.group_of[2].push_back(rank / cores);
    }
    return layout;
}

double time_s(const std::vector<Flow>& flows, const place::Layout& layout,
              const Processors& processors = {}) {
    return simulate::exchange_s(flows, 1, layout, processors, most).at(0);
}

Processors shared(const place::Layout& layout, int count) {
    return {std::vector<int>(static_cast<std::size_t>(layout.size), 0), {count}};
}

TEST(AnExchange, OfNothingTakesNoTime) {
    EXPECT_EQ(time_s({}, racks(1)), 0);
    EXPECT_EQ(time_s({{0, 1, 0, 0}}, racks(1)), 0);
}

TEST(AnExchange, OfOneMessageTakesItsLatencyItsGapAndTheReceiversOverhead) {
    EXPECT_NEAR(time_s({{0, 1, 1, 1000}}, racks(1)), latency_s + gap_s(1000) + receive_overhead_s, tolerance);
    EXPECT_NEAR(time_s({{0, 3, 1, 1000}}, racks(1)), far_s + gap_s(1000) + receive_overhead_s, tolerance);
}

TEST(AnExchange, OfManyMessagesTakesAGapForEachOfASender) {
    EXPECT_NEAR(time_s({{0, 1, 5, 5000}}, racks(1)), latency_s + 5 * gap_s(1000) + receive_overhead_s,
                tolerance);
}

TEST(AnExchange, OverlapsWhatDifferentRanksSend) {
    const std::vector<Flow> both{{0, 1, 1, 1000}, {1, 0, 1, 1000}};
    EXPECT_NEAR(time_s(both, racks(1)), latency_s + gap_s(1000) + receive_overhead_s, tolerance);
}

TEST(AnExchange, SharesTheWayOutOfAGroup) {
    const double slow = 1e8;  // bytes a second: ten times slower than a pair
    const std::vector<Flow> across{{0, 2, 1, 100000}, {1, 3, 1, 100000}};
    EXPECT_NEAR(time_s(across, racks(1, slow)), far_s + 200000 / slow + receive_overhead_s, 1e-6);
    EXPECT_LT(time_s(across, racks(1)), 3e-4);
}

TEST(OneProcessorOfAllRanks, DoesTheirOverheadsOneAfterTheOther) {
    const auto layout = racks(4);
    std::vector<Flow> flows;
    for (int rank = 0; rank < 4; ++rank) flows.push_back({rank, rank + 4, 1, 0});
    EXPECT_NEAR(time_s(flows, layout), latency_s + gap_0_s + receive_overhead_s, tolerance);
    // When the first message is there, all are sent; four receives are left.
    EXPECT_NEAR(time_s(flows, layout, shared(layout, 1)), latency_s + gap_0_s + 4 * receive_overhead_s,
                tolerance);
}

TEST(WaitingForASlowLink, KeepsNoSharedProcessor) {
    auto layout = racks(4);
    layout.links[0].gap_s = {};
    std::vector<Flow> flows;
    for (int rank = 0; rank < 8; ++rank) flows.push_back({rank, rank + 8, 1, 0});
    // Eight overheads as within a rack, not three times as long.
    EXPECT_NEAR(time_s(flows, layout, shared(layout, 1)), far_s + 7 * send_overhead_s + receive_overhead_s,
                8 * receive_overhead_s);
    EXPECT_GT(time_s(flows, layout, shared(layout, 1)), far_s + 7 * send_overhead_s);
}

TEST(WaitingForTheReceiver, KeepsNoSharedProcessor) {
    // From 1,000 bytes on a send waits for its receiver, as with a rendezvous.
    auto layout = racks(4);
    for (auto& level : layout.links) {
        level.send_overhead_s = {{{0, 1e-7}, {1000, 1e-6}, {2000, 1e-3}, {1 << 20, 1.0}}};
        level.gap_s = {{{0, 4e-5}}};
        level.receive_overhead_s = {{{0, 1e-9}}};
    }
    std::vector<Flow> flows;
    for (int rank = 0; rank < 8; ++rank) flows.push_back({rank, rank + 8, 1, 4000});
    EXPECT_NEAR(time_s(flows, layout, shared(layout, 1)), 7 * 4e-6 + 4e-5 + far_s, 1e-8);
}

TEST(AReceiveOfUnknownOverhead, IsAsMuchWorkAsASend) {
    auto layout = racks(4);
    const std::vector<Flow> flows{{0, 1, 1, 0}, {2, 3, 1, 0}};
    for (auto& level : layout.links) level.receive_overhead_s = {{{0, 0}}};
    EXPECT_NEAR(time_s(flows, layout), latency_s + gap_0_s, tolerance);
    EXPECT_NEAR(time_s(flows, layout, shared(layout, 4)), latency_s + gap_0_s + send_overhead_s, tolerance);
}

TEST(MoreProcessors, AreNeverSlowerOnRandomExchangesAndEnoughAreAsGoodAsOnesOwn) {
    auto layout = racks(4);
    for (auto& level : layout.links) level.send_overhead_s = links(0, send_overhead_s).send_overhead_s;
    std::mt19937 random(7);
    for (int trial = 0; trial < 50; ++trial) {
        std::vector<Flow> flows;
        for (int i = 0; i < 60; ++i) {
            const auto from = static_cast<std::int64_t>(random() % 16);
            const auto to = static_cast<std::int64_t>(random() % 16);
            if (from != to) flows.push_back({from, to, 1, static_cast<std::int64_t>(random() % 2000)});
        }
        const double own_s = time_s(flows, layout);
        EXPECT_NEAR(time_s(flows, layout, shared(layout, 16)), own_s, tolerance);
        double work_s = 0;
        for (const Flow& flow : flows) work_s += static_cast<double>(flow.messages) * send_overhead_s;
        for (const int count : {1, 2, 4}) {
            EXPECT_GE(time_s(flows, layout, shared(layout, count)), work_s / count);
        }
    }
}

TEST(TheRoundsOfAnExchange, FollowOneAnotherAsSoonAsARankIsDone) {
    const auto layout = racks(1);
    const double one_s = latency_s + gap_s(1000) + receive_overhead_s;
    const std::vector<Flow> both{{0, 1, 1, 1000}, {1, 0, 1, 1000}};
    const auto ends_s = simulate::exchange_s(both, 5, layout, {}, most);
    ASSERT_EQ(ends_s.size(), 5);
    for (int round = 0; round < 5; ++round)
        EXPECT_NEAR(ends_s[static_cast<std::size_t>(round)], (round + 1) * one_s, 5 * tolerance);
}

TEST(TheRoundsOfAnExchange, OverlapWhereNobodyWaits) {
    // What only sends waits for its own way out, never for the other side.
    const auto ends_s = simulate::exchange_s({{0, 3, 1, 1000}}, 4, racks(1), {}, most);
    EXPECT_NEAR(ends_s.back(), 4 * gap_s(1000) + far_s + receive_overhead_s, 5 * tolerance);
}

TEST(TheRoundsOfAnExchange, HideTheLatencyOfOnePairBehindAnothersWork) {
    // Two pairs share a slow way between racks. While the one with short messages waits for its latency, the
    // other has the way for itself.
    const double slow = 1e8;
    const std::vector<Flow> pairs{{0, 2, 1, 500}, {2, 0, 1, 500}, {1, 3, 1, 1500}, {3, 1, 1, 1500}};
    const auto layout = racks(1, slow);
    const int rounds = 20;
    const auto ends_s = simulate::exchange_s(pairs, rounds, layout, {}, most);
    EXPECT_LT(ends_s.back(), 0.9 * rounds * ends_s.front());
    EXPECT_GE(ends_s.back(), rounds * 2000 / slow);
}

TEST(TheRoundsOfAnExchange, GoInStepWhereTwoPairsShareAWay) {
    const double slow = 1e8;
    const std::vector<Flow> pairs{{0, 2, 1, 500}, {2, 0, 1, 500}, {1, 3, 1, 500}, {3, 1, 1, 500}};
    const auto ends_s = simulate::exchange_s(pairs, 20, racks(1, slow), {}, most);
    EXPECT_NEAR(ends_s.front(), far_s + 1000 / slow + receive_overhead_s, tolerance);
    EXPECT_NEAR(ends_s.back(), 20 * ends_s.front(), 20 * tolerance);
}

TEST(AnExchangeThatCannotBe, IsRefused) {
    const auto layout = racks(1);
    const auto refused = [&](const std::vector<Flow>& flows, const Processors& processors = {}) {
        EXPECT_THROW((void)time_s(flows, layout, processors), std::invalid_argument);
    };
    refused({{0, 4, 1, 1}});
    refused({{-1, 0, 1, 1}});
    refused({{1, 1, 1, 1}});
    refused({{0, 1, -1, 1}});
    refused({{0, 1, 1, -1}});
    refused({{0, 1, most, 1}, {1, 0, 1, 1}});
    EXPECT_THROW((void)simulate::exchange_s({}, 0, layout, {}, most), std::invalid_argument);
    refused({}, {{0}, {1}});
    refused({}, {{0, 0, 0, 1}, {1}});
    refused({}, {{0, 0, 0, 0}, {0}});
}

}  // namespace
}  // namespace isochrone::tests
