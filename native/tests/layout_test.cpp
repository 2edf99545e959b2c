// SPDX-License-Identifier: BSD-3-Clause
#include "place/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "place/window.hpp"
#include "support/random_layout.hpp"

namespace isochrone::tests {
namespace {

using namespace core;
using place::Layout;
using topology::Place;
using topology::Topology;

using Groups = std::vector<int>;

/// Hosts a, b (of one kind) and c (of another), each with two sockets of two places; a and b are on one
/// switch.
Topology cluster() {
    Topology topology;
    for (const std::string host : {"a", "b", "c"}) {
        for (const std::string cpus : {"0", "1", "2-3", "4"}) {
            topology.places.push_back({host, cpus, host == "c" ? "old" : "new"});
        }
    }
    topology.levels = {{"machine", {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}, {}},
                       {"switch", {{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11}}, {}},
                       {"node", {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}, {}},
                       {"socket", {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}}, {}}};
    return topology;
}

Layout match(const std::vector<Place>& ranks) { return place::match(cluster(), ranks); }

const Groups& groups(const Layout& layout, const std::string& level) {
    return layout.group_of.at(static_cast<std::size_t>(layout.level(level)));
}

TEST(RanksInAnotherOrder, AreFoundInTheirPlaces) {
    const auto layout = match({{"b", "4", "new"},
                               {"a", "0", "new"},
                               {"c", "1", "old"},
                               {"b", "1", "new"},
                               {"a", "1", "new"},
                               {"b", "2-3", "new"}});
    EXPECT_EQ(groups(layout, "machine"), (Groups{0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(groups(layout, "switch"), (Groups{0, 0, 1, 0, 0, 0}));
    EXPECT_EQ(groups(layout, "node"), (Groups{0, 1, 2, 0, 1, 0}));
    EXPECT_EQ(groups(layout, "socket"), (Groups{0, 1, 2, 3, 1, 0}));
}

TEST(RanksOfSomeOfTheHosts, MeetWhereTheirPlacesDo) {
    const auto layout = match(
        {{"a", "0", "new"}, {"a", "1", "new"}, {"a", "4", "new"}, {"b", "4", "new"}, {"c", "4", "old"}});
    EXPECT_EQ(layout.levels[static_cast<std::size_t>(layout.meet(0, 1))], "socket");
    EXPECT_EQ(layout.levels[static_cast<std::size_t>(layout.meet(0, 2))], "node");
    EXPECT_EQ(layout.levels[static_cast<std::size_t>(layout.meet(0, 3))], "switch");
    EXPECT_EQ(layout.levels[static_cast<std::size_t>(layout.meet(0, 4))], "machine");
    EXPECT_EQ(layout.level("rack"), -1);
}

TEST(AnUnseenHostLikeAKnownOne, HasItsInnerTreeAndNoNeighbours) {
    const auto layout = match(
        {{"z", "0", "new"}, {"z", "4", "new"}, {"z", "1", "new"}, {"y", "0", "new"}, {"a", "0", "new"}});
    EXPECT_EQ(groups(layout, "machine"), (Groups{0, 0, 0, 0, 0}));
    EXPECT_EQ(groups(layout, "switch"), (Groups{0, 0, 0, 1, 2}));
    EXPECT_EQ(groups(layout, "node"), (Groups{0, 0, 0, 1, 2}));
    EXPECT_EQ(groups(layout, "socket"), (Groups{0, 1, 0, 2, 3}));
}

TEST(AHostUnlikeAllKnownOnes, IsRefusedByName) {
    try {
        static_cast<void>(match({{"a", "0", "new"}, {"stranger", "0", "unheard of"}}));
        FAIL();
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find("host 'stranger'"), std::string::npos);
    }
    EXPECT_THROW(static_cast<void>(match({{"stranger", "0", ""}})), std::invalid_argument);
}

TEST(ARankThatIsNotBound, IsKnownByItsNode) {
    const auto layout = match({{"a", "", "new"}, {"a", "0", "new"}, {"b", "", "new"}});
    EXPECT_EQ(groups(layout, "node"), (Groups{0, 0, 1}));
    EXPECT_EQ(layout.levels[static_cast<std::size_t>(layout.meet(0, 1))], "node");
}

TEST(ARankBoundAsNoneWas, IsPutWhereItsCpusLie) {
    const auto layout =
        match({{"a", "3", "new"}, {"a", "0-1", "new"}, {"a", "2-3,4", "new"}, {"a", "1,2", "new"}});
    const auto& sockets = groups(layout, "socket");
    EXPECT_EQ(sockets[0], sockets[2]);
    EXPECT_NE(sockets[0], sockets[1]);
    EXPECT_EQ(layout.levels[static_cast<std::size_t>(layout.meet(0, 3))], "node");  // across the sockets
}

TEST(CpuListsThatAreNone, ArePlacesAtNodeLevel) {
    for (const std::string cpus :
         {"x", "1-", "-", "4-0", "0,,1", "99999999999999999999", "0-99999999999999999999", "\xff"}) {
        const auto layout = match({{"a", cpus, "new"}, {"a", "0", "new"}});
        EXPECT_EQ(layout.levels[static_cast<std::size_t>(layout.meet(0, 1))], "node") << cpus;
    }
}

TEST(ALayoutOfSomeRanks, NumbersRanksAndGroupsAnew) {
    const auto all = match({{"b", "4", "new"}, {"a", "0", "new"}, {"c", "1", "old"}, {"b", "1", "new"}});
    const auto some = all.restricted_to({2, 3, 0});
    EXPECT_EQ(some.size, 3);
    EXPECT_EQ(groups(some, "node"), (Groups{0, 1, 1}));
    EXPECT_EQ(groups(some, "socket"), (Groups{0, 1, 2}));
    EXPECT_EQ(some.levels, all.levels);
    EXPECT_EQ(some.meet(0, 1), all.meet(2, 3));
    EXPECT_EQ(all.restricted_to({}).size, 0);
}

TEST(AShape, NamesWhatDividesTheRanksAndWhereTheRootIs) {
    const auto layout = match(
        {{"a", "0", "new"}, {"a", "1", "new"}, {"a", "4", "new"}, {"b", "0", "new"}, {"c", "0", "old"}});
    EXPECT_EQ(place::shape(layout, 0),
              "5 ranks in one machine; switch 1x4+1x1; node 1x3+2x1; socket 1x2+3x1; root in 4/3/2");
    EXPECT_EQ(place::shape(layout, 4),
              "5 ranks in one machine; switch 1x4+1x1; node 1x3+2x1; socket 1x2+3x1; root in 1/1/1");
}

TEST(AShapeWithoutItsRoot, IsWhatTheShapesOfAllRootsBeginWith) {
    const auto layout = match(
        {{"a", "0", "new"}, {"a", "1", "new"}, {"a", "4", "new"}, {"b", "0", "new"}, {"c", "0", "old"}});
    EXPECT_EQ(place::shape(layout), "5 ranks in one machine; switch 1x4+1x1; node 1x3+2x1; socket 1x2+3x1");
    EXPECT_EQ(place::without_root(place::shape(layout, 4)), place::shape(layout));
    const auto pair = layout.restricted_to({0, 1});
    EXPECT_EQ(place::shape(pair), "2 ranks in one socket");
    EXPECT_EQ(place::without_root(place::shape(pair, 0)), place::shape(pair));
}

TEST(TheShapeOfOneNode, NamesOnlyTheNodeAndWhatIsInside) {
    const auto all = match({{"a", "0", "new"}, {"a", "1", "new"}, {"a", "4", "new"}, {"b", "0", "new"}});
    EXPECT_EQ(place::shape(all.restricted_to({0, 1, 2}), 2),
              "3 ranks in one node; socket 1x2+1x1; root in 1");
    EXPECT_EQ(place::shape(all.restricted_to({0, 1}), 0), "2 ranks in one socket");
    EXPECT_EQ(place::shape(all.restricted_to({3}), 0), "1 ranks in one socket");
}

TEST(LevelsThatDivideAlike, AreNamedOnceInAShape) {
    const auto layout = match({{"a", "0", "new"}, {"c", "0", "old"}});
    EXPECT_EQ(place::shape(layout, 0), "2 ranks in one machine; switch 2x1; root in 1");
}

TEST(AShape, IsTheSameForAnyOrderOfTheRanks) {
    const auto layout = match({{"a", "0", "new"}, {"a", "1", "new"}, {"b", "0", "new"}, {"c", "0", "old"}});
    EXPECT_EQ(place::shape(layout, 1), place::shape(layout.restricted_to({3, 1, 0, 2}), 2));
}

/// Ranks on nodes of these sizes in racks.
Layout racks(const std::vector<std::vector<int>>& nodes_of_racks) {
    Layout layout;
    layout.levels = {"machine", "rack", "node"};
    layout.group_of.resize(3);
    int node = 0;
    for (std::size_t rack = 0; rack < nodes_of_racks.size(); ++rack) {
        for (const int ranks : nodes_of_racks[rack]) {
            for (int rank = 0; rank < ranks; ++rank) {
                layout.group_of[0].push_back(0);
                layout.group_of[1].push_back(static_cast<int>(rack));
                layout.group_of[2].push_back(node);
            }
            ++node;
        }
    }
    layout.size = static_cast<int>(layout.group_of[0].size());
    return layout;
}

TEST(AShape, TellsWhichGroupsLieInWhich) {
    const Layout even = racks({{2, 1, 1}, {2, 1, 1}});
    const Layout odd = racks({{2, 2}, {1, 1, 1, 1}});
    const std::string sizes = "8 ranks in one machine; rack 2x4; node 2x2+4x1";
    EXPECT_EQ(place::shape(even), sizes);
    EXPECT_TRUE(place::shape(odd).starts_with(sizes + "; nested ")) << place::shape(odd);
    EXPECT_EQ(place::shape(odd), place::shape(racks({{1, 1, 1, 1}, {2, 2}})));
    EXPECT_EQ(place::without_root(place::shape(odd, 0)), place::shape(odd));
    // A node of two is in one rack, and a node of one in the other: sizes tell.
    EXPECT_EQ(place::shape(odd, 0), place::shape(odd) + "; root in 4/2");
    // Of six nodes of one, two are beside the node of two.
    const Layout uneven = racks({{2, 1, 1}, {1, 1, 1, 1}});
    EXPECT_NE(place::shape(uneven, 2), place::shape(uneven, 4));
    EXPECT_EQ(place::shape(uneven, 2), place::shape(uneven, 3));
    EXPECT_EQ(place::shape(uneven, 4), place::shape(uneven, 7));
    // Whole nodes on any number of racks need no more than their sizes.
    EXPECT_EQ(place::shape(racks({{2, 2, 2, 2}, {2}}), 8),
              "10 ranks in one machine; rack 1x8+1x2; node 5x2; root in 2/2");
}

/// The groups of a level and all inside them in an order of their own, with the root marked.
std::string written(const Layout& layout, const std::vector<int>& ranks, std::size_t level, int root) {
    if (level == layout.group_of.size()) {
        const bool has_root = std::find(ranks.begin(), ranks.end(), root) != ranks.end();
        return std::to_string(ranks.size()) + (has_root ? "r" : "");
    }
    std::map<int, std::vector<int>> groups;
    for (const int rank : ranks)
        groups[layout.group_of[level][static_cast<std::size_t>(rank)]].push_back(rank);
    std::vector<std::string> parts;
    for (const auto& [group, members] : groups) parts.push_back(written(layout, members, level + 1, root));
    std::sort(parts.begin(), parts.end());
    std::string result = "(";
    for (const auto& part : parts) result += part + ",";
    return result + ")";
}

TEST(Shapes, AreEqualWhereGroupsLieInEachOtherAlikeAndNowhereElse) {
    std::mt19937_64 random(5);
    std::map<std::string, std::string> ways;    // of each shape
    std::map<std::string, std::string> shapes;  // of each way
    int nested = 0;
    for (int i = 0; i < 4000; ++i) {
        const int size = 1 + static_cast<int>(random() % 9);
        const Layout layout = random_layout(size, 1 + static_cast<int>(random() % 4), random);
        std::vector<int> ranks(static_cast<std::size_t>(size));
        std::iota(ranks.begin(), ranks.end(), 0);
        for (const int root : {-1, 0, size - 1}) {
            const std::string shape = root < 0 ? place::shape(layout) : place::shape(layout, root);
            if (root >= 0) {
                EXPECT_EQ(place::shapes(layout)[static_cast<std::size_t>(root)], shape);
            }
            nested += shape.find("nested") != std::string::npos ? 1 : 0;
            // Levels that say nothing are in no shape: those of one depth alone are compared.
            const std::string depth = std::to_string(layout.levels.size()) + (root < 0 ? "w" : "r");
            const std::string way = depth + written(layout, ranks, 0, root);
            EXPECT_EQ(shapes.try_emplace(way, shape).first->second, shape) << way;
            EXPECT_EQ(ways.try_emplace(depth + shape, way).first->second, way) << shape;
        }
    }
    EXPECT_GT(nested, 100);
    EXPECT_GT(shapes.size(), 500U);
}

/// Two hosts of two places, 2 ms and 100 MB/s apart; 1 us and 10 GB/s inside.
Layout far_apart(const std::vector<Place>& ranks) {
    Topology topology;
    topology.places = {{"a", "0", "x"}, {"a", "1", "x"}, {"b", "0", "x"}, {"b", "1", "x"}};
    topology.levels = {{"machine", {{0, 1, 2, 3}}, {}}, {"node", {{0, 1}, {2, 3}}, {}}};
    topology.levels[0].links.latency_s = 2e-3;
    topology.levels[0].links.gap_s.points = {{0, 0}, {1'000'000, 1e-2}};
    topology.levels[1].links.latency_s = 1e-6;
    topology.levels[1].links.gap_s.points = {{0, 0}, {1'000'000, 1e-4}};
    return place::match(topology, ranks);
}

TEST(TheWindow, KeepsTheFarthestLinkBusy) {
    const auto across = far_apart({{"a", "0", "x"}, {"b", "0", "x"}});
    // 32 KiB take 0.328 ms, and a rendezvous four times 2 ms.
    EXPECT_EQ(place::window(across, 32768), 26);
    EXPECT_EQ(place::window(across, 1024), place::largest_window);
    EXPECT_EQ(place::window(across, 1'000'000), place::least_window);
    EXPECT_EQ(place::window(across, 0), place::least_window);
}

TEST(TheWindow, IsNoNarrowerWhereTheGapHoldsARendezvous) {
    auto eager = far_apart({{"a", "0", "x"}, {"b", "0", "x"}});
    auto asking = eager;
    eager.links[0].gap_s.points = {{0, 0}, {32768, 3.2768e-4}, {65536, 6.5536e-4}, {1'000'000, 1e-2}};
    asking.links[0].gap_s.points = {{0, 0}, {32768, 3.2768e-4}, {65536, 4.65536e-3}, {1'000'000, 1.4e-2}};
    for (const std::int64_t segment_bytes : {1024, 32768, 65536, 131072, 1'000'000})
        EXPECT_EQ(place::window(asking, segment_bytes), place::window(eager, segment_bytes));
    EXPECT_EQ(place::window(asking, 65536), 14);
}

TEST(TheWindow, KnowsOnlyLinksBetweenItsRanks) {
    const auto inside = far_apart({{"a", "0", "x"}, {"a", "1", "x"}});
    EXPECT_EQ(place::window(inside, 32768), place::least_window);
    EXPECT_EQ(place::window(inside, 1024), 41);
}

}  // namespace
}  // namespace isochrone::tests
