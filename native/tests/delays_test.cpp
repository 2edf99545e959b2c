// SPDX-License-Identifier: BSD-3-Clause
#include "place/delays.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <random>
#include <stdexcept>

#include "algorithms/trees/tree.hpp"
#include "collectives/collective.hpp"
#include "compose/mapping.hpp"
#include "place/fabric_server.hpp"
#include "place/layout.hpp"

namespace isochrone::tests {
namespace {

using namespace core;
using algorithms::trees::chain;
using compose::Walk;
using place::DelayBy;
using place::Layout;

constexpr float infinite = std::numeric_limits<float>::infinity();

/// Ranks on hosts, all hosts in one machine.
Layout on(const std::vector<int>& hosts) {
    Layout layout;
    layout.size = static_cast<int>(hosts.size());
    layout.levels = {"machine", "node"};
    layout.group_of = {std::vector<int>(hosts.size(), 0), hosts};
    layout.links.resize(2);
    return layout;
}

TEST(Delays, PutTheClosestHostsNextToEachOther) {
    // Hosts in a row, in the order 2 0 3 1; hops are their distance in it.
    const std::vector<int> at{1, 3, 0, 2};
    std::vector<float> hops;
    for (const int a : at) {
        for (const int b : at) hops.push_back(static_cast<float>(std::abs(a - b)));
    }
    auto layout = on({0, 1, 2, 3, 0, 1, 2, 3});
    place::set_delays(layout, {0, 1, 2, 3, 0, 1, 2, 3}, DelayBy::hops, hops);
    EXPECT_EQ(compose::mapped(layout, chain, 0, 2, Walk::depth_first),
              (std::vector<int>{2, 6, 0, 4, 3, 7, 1, 5}));
    // Without them hosts follow each other by number.
    layout.delays = nullptr;
    EXPECT_EQ(compose::mapped(layout, chain, 0, 2, Walk::depth_first),
              (std::vector<int>{2, 6, 0, 4, 1, 5, 3, 7}));
}

TEST(Delays, OfPartOfTheRanks) {
    auto layout = on({0, 1, 2});
    place::set_delays(layout, {0, 1, 2}, DelayBy::hops, {0, 9, 1, 9, 0, 1, 1, 1, 0});
    const auto part = layout.restricted_to({2, 1, 0});
    EXPECT_EQ(part.host_of, (std::vector<int>{2, 1, 0}));
    EXPECT_EQ(compose::mapped(part, chain, 0, 2, Walk::depth_first), (std::vector<int>{2, 0, 1}));
}

TEST(Delays, OfOneHostAreNotLookedAt) {
    auto layout = on({0, 0, 0});
    place::set_delays(layout, {0, 0, 0}, DelayBy::speed, {0});
    EXPECT_EQ(compose::mapped(layout, chain, 0, 1, Walk::breadth_first), (std::vector<int>{1, 0, 2}));
}

TEST(Delays, BySpeedAreLessWhereCablesAreFaster) {
    auto layout = on({0, 1, 2});
    place::set_delays(layout, {0, 1, 2}, DelayBy::speed, {0, 8, 16, 8, 0, 0, 16, 8, 0});
    EXPECT_GT(layout.delays->between(0, 1), layout.delays->between(0, 2));
    EXPECT_EQ(layout.delays->between(1, 2), infinite);
}

TEST(Delays, ByTimeTakeTheLevelAndTheSpeed) {
    auto layout = on({0, 1, 2, 3});
    layout.levels = {"machine", "switch", "node"};
    layout.group_of = {{0, 0, 0, 0}, {0, 0, 1, 1}, {0, 1, 2, 3}};
    plogp::Parameters far, near;
    far.latency_s = 10e-6;
    far.gap_s.points = {{65536, 100e-6}};
    near.latency_s = 1e-6;
    near.gap_s.points = {{65536, 50e-6}};
    layout.links = {far, near, {}};
    // Host 3 has a cable of half the speed.
    std::vector<float> speeds(16, 8);
    for (const int host : {0, 1, 2}) speeds[static_cast<std::size_t>(host * 4 + 3)] = 4;
    for (const int host : {0, 1, 2}) speeds[static_cast<std::size_t>(12 + host)] = 4;
    place::set_delays(layout, {0, 1, 2, 3}, DelayBy::time, speeds);
    EXPECT_NEAR(layout.delays->between(0, 1), 51e-6, 1e-9);
    EXPECT_NEAR(layout.delays->between(0, 2), 110e-6, 1e-9);
    EXPECT_NEAR(layout.delays->between(0, 3), 210e-6, 1e-9);
    EXPECT_NEAR(layout.delays->between(2, 3), 101e-6, 1e-9);
}

TEST(Delays, OfSlowHostsPutThemWhereNobodyWaitsForThem) {
    // As many fast hosts as a binomial tree of eight has positions that send.
    auto layout = on({0, 1, 2, 3, 4, 5, 6, 7});
    std::vector<float> speeds;
    const auto is_slow = [](int host) { return host == 1 || host == 2 || host == 3 || host == 6; };
    for (int a = 0; a < 8; ++a) {
        for (int b = 0; b < 8; ++b) speeds.push_back(is_slow(a) || is_slow(b) ? 8 : 32);
    }
    place::set_delays(layout, {0, 1, 2, 3, 4, 5, 6, 7}, DelayBy::speed, speeds);
    const auto found = compose::mapped(layout, algorithms::trees::binomial, 0, 0, Walk::longest_first);
    for (int position = 0; position < 8; ++position) {
        const bool sends = !algorithms::trees::binomial(8, position, 0).children.empty();
        EXPECT_EQ(sends, !is_slow(found[static_cast<std::size_t>(position)])) << position;
    }
}

TEST(Delays, MustBeOfTheHosts) {
    auto layout = on({0, 1});
    EXPECT_THROW(place::set_delays(layout, {0, 1}, DelayBy::hops, {0}), std::invalid_argument);
    EXPECT_THROW(place::set_delays(layout, {0}, DelayBy::hops, {0}), std::invalid_argument);
}

TEST(Delays, OfAnyKindLeaveEachRankOnePosition) {
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
        const int size = 1 + static_cast<int>(random() % 40);
        std::vector<int> host_of;
        for (int rank = 0; rank < size; ++rank) host_of.push_back(static_cast<int>(random() % 9));
        const auto hosts = static_cast<std::size_t>(*std::max_element(host_of.begin(), host_of.end())) + 1;
        std::vector<float> figures;
        for (std::size_t i = 0; i < hosts * hosts; ++i) figures.push_back(static_cast<float>(random() % 4));
        auto layout = on(host_of);
        place::set_delays(layout, host_of, static_cast<DelayBy>(random() % 3), figures);
        const int root = static_cast<int>(random() % static_cast<unsigned>(size));
        for (const auto& row : collectives::named("bcast").across()) {
            if (row.tree == nullptr) continue;
            auto found = compose::mapped(layout, row.tree, 2, root, static_cast<Walk>(round % 3));
            EXPECT_EQ(found.front(), root);
            std::sort(found.begin(), found.end());
            for (int rank = 0; rank < size; ++rank) EXPECT_EQ(found[static_cast<std::size_t>(rank)], rank);
        }
    }
}

TEST(AddressesOfFabricServers, AreRead) {
    const auto plain = place::parse_fabric_server("head:7471");
    EXPECT_EQ(plain.by, DelayBy::time);
    EXPECT_EQ(plain.host, "head");
    EXPECT_EQ(plain.port, "7471");
    EXPECT_EQ(place::parse_fabric_server("hops@10.0.0.1:1").by, DelayBy::hops);
    EXPECT_EQ(place::parse_fabric_server("speed@[fe80::1]:80").host, "fe80::1");
    for (const auto* wrong : {"", ":", "head", "head:", ":7471", "head:port", "fe80::1:80", "fast@head:1",
                              "head:123456", "head:65536", "head:0", "head:-1", "head:+1"})
        EXPECT_THROW(static_cast<void>(place::parse_fabric_server(wrong)), std::invalid_argument) << wrong;
}

}  // namespace
}  // namespace isochrone::tests
