// SPDX-License-Identifier: BSD-3-Clause
//
// The emulated network of labs, without a clock: times are handed in.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "description.hpp"
#include "frame.hpp"
#include "network.hpp"

namespace isochrone::lab {
namespace {

constexpr Nanoseconds us = 1000;
constexpr Nanoseconds ms = 1000 * us;

/// Nanoseconds per byte of so many Gbit/s.
constexpr double gbit(double rate) { return 8 / rate; }

Burst packet(std::int64_t bytes) { return {bytes, 1, bytes, {}}; }

/// core - r0 - (h0, h1), core - r1 - (h2); nodes 0 to 5, hosts 2, 3 and 5.
Network two_racks(std::int64_t queue_bytes = 1 << 30) {
    return Network({{.name = "core"},
                    {"r0", 0, gbit(1), 900 * us, queue_bytes},
                    {"h0", 1, gbit(10), 50 * us, queue_bytes},
                    {"h1", 1, gbit(10), 50 * us, queue_bytes},
                    {"r1", 0, gbit(1), 900 * us, queue_bytes},
                    {"h2", 4, gbit(10), 50 * us, queue_bytes}});
}

/// All that arrives, each at its own time.
std::vector<Arrival> drain(Network& network) {
    std::vector<Arrival> arrivals;
    while (const auto next = network.next()) {
        while (auto arrival = network.leave(*next)) arrivals.push_back(std::move(*arrival));
    }
    return arrivals;
}

TEST(LabNetwork, HostsAreTheNodesWithoutChildren) {
    EXPECT_EQ(two_racks().hosts(), (std::vector<int>{2, 3, 5}));
}

TEST(LabNetwork, APacketTakesTheDelaysAndTheTimesOnEachLink) {
    Network network = two_racks();
    network.enter(2, 5, packet(1250), 7 * ms);
    const auto arrivals = drain(network);
    ASSERT_EQ(arrivals.size(), 1U);
    EXPECT_EQ(arrivals[0].host, 5);
    // 1250 bytes are 1 us on a cable and 10 us on an uplink; two of each.
    EXPECT_EQ(arrivals[0].due, 7 * ms + 2 * 50 * us + 2 * 900 * us + 2 * us + 20 * us);
}

TEST(LabNetwork, NeighboursDoNotUseTheUplink) {
    Network network = two_racks();
    network.enter(2, 3, packet(1250), 0);
    EXPECT_EQ(drain(network).at(0).due, 100 * us + 2 * us);
    EXPECT_EQ(network.up(1).bytes, 0);
    EXPECT_EQ(network.up(2).bytes, 1250);
    EXPECT_EQ(network.down(3).bytes, 1250);
    EXPECT_EQ(network.down(2).bytes, 0);
}

TEST(LabNetwork, ABurstIsForwardedPacketByPacket) {
    Network network = two_racks();
    const Burst burst{50 * 1250, 50, 1250, {}};
    network.enter(2, 5, burst, 0);
    // The uplinks overlap: 50 packets on the first, and the last one on the second; and so the cables.
    EXPECT_EQ(drain(network).at(0).due, 1900 * us + us + 50 * 10 * us + 10 * us + us);
    EXPECT_EQ(network.up(1).packets, 50);
}

TEST(LabNetwork, AnUplinkIsShared) {
    Network network = two_racks();
    for (int i = 0; i < 100; ++i) {
        network.enter(2, 5, packet(1250), 0);
        network.enter(3, 5, packet(1250), 0);
    }
    const auto arrivals = drain(network);
    ASSERT_EQ(arrivals.size(), 200U);
    // Whatever the cables carry, 200 packets take 200 times on the uplink.
    EXPECT_GE(arrivals.back().due, 1900 * us + 200 * 10 * us);
    EXPECT_LE(arrivals.back().due, 1900 * us + 202 * 10 * us + 2 * us);
}

TEST(LabNetwork, DirectionsDoNotDisturbEachOther) {
    Network alone = two_racks();
    alone.enter(2, 5, packet(125000), 0);
    Network both = two_racks();
    both.enter(2, 5, packet(125000), 0);
    both.enter(5, 2, packet(125000), 0);
    const auto arrivals = drain(both);
    EXPECT_EQ(arrivals.at(0).due, drain(alone).at(0).due);
    EXPECT_EQ(arrivals.at(1).due, arrivals.at(0).due);
}

TEST(LabNetwork, WhatTheQueueHasNoRoomForIsDropped) {
    Network network = two_racks(2500);
    for (int i = 0; i < 100; ++i) network.enter(2, 5, packet(1250), 0);
    const auto arrivals = drain(network);
    EXPECT_LT(arrivals.size(), 100U);
    EXPECT_EQ(network.up(2).dropped_packets + network.up(1).dropped_packets,
              100 - static_cast<std::int64_t>(arrivals.size()));
    EXPECT_EQ(network.up(2).packets + network.up(2).dropped_packets, 100);
}

TEST(LabNetwork, ALateEntryWithAShortWayOvertakesAnEarlyOneWithALongWay) {
    // One host's cable is slow to the switch; what comes later by a fast one is on the shared uplink first.
    Network network({{.name = "core"},
                     {"r0", 0, gbit(1), 100 * us, 1 << 30},
                     {"slow", 1, 0, 5 * ms, 1 << 30},
                     {"fast", 1, 0, 10 * us, 1 << 30},
                     {"far", 0, 0, 10 * us, 1 << 30}});
    network.enter(2, 4, packet(1250), 0);
    network.enter(3, 4, packet(1250), ms);
    const auto arrivals = drain(network);
    EXPECT_EQ(arrivals.at(0).due, ms + 10 * us + 10 * us + 100 * us + 10 * us);
    EXPECT_EQ(arrivals.at(1).due, 5 * ms + 10 * us + 100 * us + 10 * us);
}

TEST(LabNetwork, NothingArrivesBeforeItsDelayOrFasterThanTheRate) {
    std::mt19937 random(3);
    Network network = two_racks();
    const std::vector<int> hosts = network.hosts();
    Nanoseconds now = 0;
    std::int64_t entered = 0;
    std::vector<Arrival> arrivals;
    for (int i = 0; i < 2000; ++i) {
        now += static_cast<Nanoseconds>(random() % 20) * us;
        const int from = hosts[random() % 3];
        int to = hosts[random() % 3];
        if (to == from) continue;
        network.enter(from, to, packet(1 + static_cast<std::int64_t>(random() % 1500)), now);
        ++entered;
        while (auto arrival = network.leave(now)) arrivals.push_back(std::move(*arrival));
    }
    for (auto& arrival : drain(network)) arrivals.push_back(std::move(arrival));
    EXPECT_EQ(static_cast<std::int64_t>(arrivals.size()), entered);
    EXPECT_TRUE(std::is_sorted(arrivals.begin(), arrivals.end(),
                               [](const Arrival& a, const Arrival& b) { return a.due < b.due; }));
    const double busy = static_cast<double>(network.up(1).bytes) * gbit(1);
    EXPECT_LE(busy, static_cast<double>(arrivals.back().due));
    EXPECT_EQ(network.up(1).bytes, network.down(4).bytes);
}

TEST(LabNetwork, RefusesWhatIsNoTree) {
    EXPECT_THROW(Network({{.name = "core"}}), std::invalid_argument);
    EXPECT_THROW(Network({{.name = "core"}, {"a", 1, 0, 0, 0}}), std::invalid_argument);
    EXPECT_THROW(Network({{.name = "core"}, {"a", -1, 0, 0, 0}}), std::invalid_argument);
}

TEST(LabFrame, ABurstRepeatsItsHeadersInEachPacket) {
    std::vector<std::byte> frame(virtio_header_bytes + 66 + 3000);
    const std::uint16_t head = 66;
    const std::uint16_t segment = 1448;
    frame[1] = std::byte{1};  // TCP over IPv4
    std::memcpy(frame.data() + 2, &head, 2);
    std::memcpy(frame.data() + 4, &segment, 2);
    const Burst burst = burst_of(frame);
    EXPECT_EQ(burst.packets, 3);
    EXPECT_EQ(burst.bytes, 3000 + 3 * 66);
    EXPECT_EQ(burst.packet_bytes, 1448 + 66);
    EXPECT_EQ(burst.content.size(), frame.size());
}

TEST(LabFrame, AnythingElseIsOnePacket) {
    std::vector<std::byte> frame(virtio_header_bytes + 500);
    EXPECT_EQ(burst_of(frame).packets, 1);
    EXPECT_EQ(burst_of(frame).bytes, 500);
    frame[1] = std::byte{1};  // a burst without sizes: nothing is divided by
    EXPECT_EQ(burst_of(frame).packets, 1);
    EXPECT_FALSE(is_frame(std::span(frame).first(5)));
}

TEST(LabDescription, IsReadAndHostileOnesAreRefused) {
    const std::string good = R"({"nodes":[{"name":"core","parent":null},
        {"name":"h0","parent":0,"bytes_per_s":1e9,"delay_s":1e-3,"queue_bytes":1000,"address":"10.77.0.1"}]})";
    const Description description = parse_description(good);
    EXPECT_EQ(description.nodes.at(1).delay, ms);
    EXPECT_DOUBLE_EQ(description.nodes.at(1).nanoseconds_per_byte, 1);
    EXPECT_EQ(description.hosts.at(0).name, "h0");
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string text = good;
        text.replace(text.find(from), from.size(), to);
        return text;
    };
    for (const std::string& bad :
         {std::string(), std::string("[]"), std::string("{\"nodes\":[]}"), with("10.77.0.1", "8.8.8.8"),
          with("10.77.0.1", "h"), with("\"h0\"", "\"h 0; rm\""), with("\"h0\"", "\"\""),
          with("\"parent\":0", "\"parent\":1"), with("1e-3", "-1"), with("1e-3", "1e9"), with("1000", "0.5"),
          with("1e9", "\"x\""), with(",\"address\":\"10.77.0.1\"", "")}) {
        EXPECT_THROW((void)parse_description(bad), std::invalid_argument) << bad;
    }
}

}  // namespace
}  // namespace isochrone::lab
