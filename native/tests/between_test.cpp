// SPDX-License-Identifier: BSD-3-Clause
//
// What runs on shapes, sizes and orders of ranks that were not measured.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "place/hardware.hpp"
#include "select/candidates.hpp"
#include "select/choose.hpp"
#include "select/shapes.hpp"
#include "support/random_layout.hpp"
#include "support/rules.hpp"

namespace isochrone::tests {
namespace {

using namespace core;
using select::Basis;

select::Choice choice(const select::Plan& plan, const place::Layout& layout, std::int64_t bytes = 1000) {
    return select::choose(plan, collectives::named("bcast"), layout, 0, bytes);
}

TEST(AShape, IsReadAsItIsWritten) {
    std::mt19937_64 random(4);
    int with_digest = 0;
    for (int trial = 0; trial < 200; ++trial) {
        const auto layout = random_layout(1 + static_cast<int>(random() % 40), 4, random);
        const std::string shape = place::shape(layout, 0);
        const auto read = select::parse_shape(shape);
        // What has a digest lies between no others.
        const bool has_digest =
            shape.find("; nested ") != std::string::npos || shape.find(" of ") != std::string::npos;
        with_digest += has_digest ? 1 : 0;
        ASSERT_EQ(read.has_value(), !has_digest) << shape;
        if (!read) continue;
        EXPECT_EQ(read->numbers.front(), layout.size);
        EXPECT_EQ(read->numbers.size(), 1 + 4 * read->levels.size());
        EXPECT_EQ(select::bearing(*read, *read)->distance, 0);
    }
    EXPECT_GT(with_digest, 20);
    EXPECT_LT(with_digest, 180);
}

TEST(WhatIsNoShape, IsNotReadAsOne) {
    for (const char* text :
         {"", "4", "x ranks in one node", "4 ranks in one ", "4 ranks in one m; node",
          "4 ranks in one m; node 2x", "-4 ranks in one m", "4 ranks in one m; node 2x2; root in x",
          "4 ranks in one m; node 0x2", "99999999999999999999 ranks in one m"}) {
        EXPECT_FALSE(select::parse_shape(text)) << text;
    }
}

TEST(AShapeBetweenTwo, RunsTheRecipeInWhichTheyAgree) {
    const std::string recipe = "hierarchical(machine=chain,node=binomial)";
    const auto plan =
        plan_of({rule(shape(2, 4), recipe, 1, 5000, 3), rule(shape(8, 4), recipe, 500, 1 << 20)});
    const auto found = choice(plan, nodes(5, 4));
    EXPECT_EQ(compose::to_text(found.recipe), recipe);
    EXPECT_EQ(found.basis, Basis::interpolated);
    EXPECT_EQ(found.speedup, 2);
    EXPECT_NE(found.reason.find("interpolated: measured 2.00x"), std::string::npos) << found.reason;
    // Within the sizes of both rules, and of the class of sizes.
    EXPECT_EQ(found.min_bytes, 512);
    EXPECT_EQ(found.max_bytes, 1023);
    EXPECT_EQ(choice(plan, nodes(5, 4), 499).basis, Basis::predicted);
    EXPECT_EQ(choice(plan, nodes(5, 4), 5001).basis, Basis::predicted);
    for (const auto& outside : {nodes(9, 4), nodes(5, 3), nodes(5, 5)})
        EXPECT_EQ(choice(plan, outside).basis, Basis::predicted);
}

TEST(AShapeBetweenTwo, IsSoUpToWhereANearerOneSaysSomethingElse) {
    // Whichever size of a class is called first, what holds for it holds in its whole range.
    const auto plan = plan_of(
        {rule(shape(2, 4), "chain"), rule(shape(3, 4), "native", 600, 1 << 20), rule(shape(8, 4), "chain")});
    const auto low = choice(plan, nodes(4, 4), 520);
    const auto high = choice(plan, nodes(4, 4), 650);
    EXPECT_EQ(low.basis, Basis::interpolated);
    EXPECT_EQ(high.basis, Basis::predicted);
    EXPECT_EQ(low.max_bytes, 599);
    EXPECT_EQ(high.min_bytes, 600);
    for (const std::int64_t size : {low.min_bytes, low.max_bytes})
        EXPECT_EQ(choice(plan, nodes(4, 4), size).basis, Basis::interpolated) << size;
    for (const std::int64_t size : {high.min_bytes, high.max_bytes})
        EXPECT_EQ(choice(plan, nodes(4, 4), size).basis, Basis::predicted) << size;
}

TEST(AShapeBetweenTwo, IsNativeWithoutATrialWhereBothAre) {
    const auto plan = plan_of({rule(shape(2, 4), "native"), rule(shape(8, 4), "native")});
    const auto found = choice(plan, nodes(4, 4));
    EXPECT_EQ(found.recipe, compose::Recipe{});
    EXPECT_EQ(found.basis, Basis::interpolated);
}

/// The nearest two around, by looking at all pairs.
std::pair<std::string, std::string> nearest_around(const std::string& here,
                                                   const std::vector<std::string>& shapes) {
    const auto from = *select::parse_shape(here);
    std::pair<std::string, std::string> nearest;
    std::int64_t least = -1;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        for (std::size_t j = i + 1; j < shapes.size(); ++j) {
            const auto one = *select::parse_shape(shapes[i]);
            const auto other = *select::parse_shape(shapes[j]);
            if (one.levels != from.levels || other.levels != from.levels) continue;
            std::int64_t width = 0;
            bool is_around = true;
            for (std::size_t k = 0; k < from.numbers.size(); ++k) {
                const auto [low, high] = std::minmax(one.numbers[k], other.numbers[k]);
                is_around = is_around && low <= from.numbers[k] && from.numbers[k] <= high;
                width += high - low;
            }
            if (!is_around || (least >= 0 && width >= least)) continue;
            least = width;
            nearest = {shapes[i], shapes[j]};
        }
    }
    return nearest;
}

TEST(AShapeBetweenTwo, LiesBetweenTheNearestOfManyInAnyDirection) {
    std::mt19937_64 random(7);
    int between = 0;
    for (int trial = 0; trial < 300; ++trial) {
        const auto here = nodes(2 + static_cast<int>(random() % 8), 1 + static_cast<int>(random() % 6));
        std::vector<std::string> shapes;
        for (int i = 0; i < 6; ++i) {
            auto other = shape(2 + static_cast<int>(random() % 8), 1 + static_cast<int>(random() % 6));
            if (other == place::shape(here, 0) || std::count(shapes.begin(), shapes.end(), other) > 0)
                continue;
            shapes.push_back(std::move(other));
        }
        std::sort(shapes.begin(), shapes.end());
        std::vector<select::Rule> rules;
        for (const auto& known : shapes) rules.push_back(rule(known, "binomial"));
        const auto found = choice(plan_of(std::move(rules)), here);
        const auto [one, other] = nearest_around(place::shape(here, 0), shapes);
        ASSERT_EQ(found.basis == Basis::interpolated, !one.empty()) << place::shape(here, 0);
        if (one.empty()) continue;
        ++between;
        EXPECT_NE(found.reason.find("for '" + one + "' and '" + other + "'"), std::string::npos)
            << found.reason << "; nearest: " << one << " and " << other;
    }
    EXPECT_GT(between, 50);
}

TEST(AShapeBetweenTwo, IsPredictedWhereTheNearestDiffer) {
    // 2 and 8 agree, but 4 is nearer and does not.
    const auto plan =
        plan_of({rule(shape(2, 4), "chain"), rule(shape(4, 4), "binomial"), rule(shape(8, 4), "chain")});
    EXPECT_EQ(choice(plan, nodes(3, 4)).basis, Basis::predicted);
    EXPECT_EQ(choice(plan, nodes(3, 4)).recipe, compose::Recipe{});
    EXPECT_EQ(choice(plan, nodes(2, 4)).basis, Basis::measured);
}

TEST(AnOrderOfRanks, IsNamedWhateverTheGroupsAreCalled) {
    EXPECT_EQ(place::order(nodes(3, 4)), "block");
    EXPECT_EQ(place::order(nodes(3, 4, true)), "cyclic");
    EXPECT_EQ(place::order(nodes(1, 4)), "block");
    EXPECT_EQ(place::order(nodes(4, 1)), "block");
    std::mt19937_64 random(5);
    for (int trial = 0; trial < 200; ++trial) {
        auto layout = random_layout(2 + static_cast<int>(random() % 30), 3, random);
        const std::string before = place::order(layout);
        for (auto& groups : layout.group_of) {
            for (int& group : groups) group = 1000 - 7 * group;
        }
        EXPECT_EQ(place::order(layout), before);
    }
    auto swapped = nodes(3, 4);
    std::swap(swapped.group_of[1][0], swapped.group_of[1][5]);
    EXPECT_EQ(place::order(swapped).rfind("order-", 0), 0U);
    auto other = nodes(3, 4);
    std::swap(other.group_of[1][0], other.group_of[1][9]);
    EXPECT_NE(place::order(swapped), place::order(other));
}

/// Racks, nodes and sockets of a rank, by where the launcher puts it.
place::Layout placed(int ranks, const std::function<std::array<int, 3>(int)>& where) {
    place::Layout layout;
    layout.size = ranks;
    layout.levels = {"machine", "rack", "node", "socket"};
    layout.group_of.resize(4);
    for (int rank = 0; rank < ranks; ++rank) {
        const auto [rack, node, socket] = where(rank);
        layout.group_of[0].push_back(0);
        layout.group_of[1].push_back(rack);
        layout.group_of[2].push_back(10 * rack + node);
        layout.group_of[3].push_back(100 * rack + 10 * node + socket);
    }
    return layout;
}

/// Two nodes a rack, two sockets a node, four ranks a node: `racks` of them.
TEST(AnOrderOfRanks, HasAWordForEachLevelWhateverTheirNumbers) {
    for (const int racks : {2, 3, 5}) {
        const int nodes = 2 * racks;
        const int ranks = 4 * nodes;
        const auto order = [&](auto&& node_of, auto&& socket_of) {
            return place::order(placed(ranks, [&](int rank) {
                const int node = node_of(rank);
                return std::array{node / 2, node % 2, socket_of(rank)};
            }));
        };
        const auto in_block = [](int rank) { return rank / 4; };
        const auto in_turn = [&](int rank) { return rank % nodes; };
        EXPECT_EQ(order(in_block, [](int rank) { return rank % 4 / 2; }), "block");
        EXPECT_EQ(order(in_block, [](int rank) { return rank % 2; }), "block:cyclic");
        EXPECT_EQ(order(in_turn, [&](int rank) { return rank / nodes / 2; }), "cyclic2:block");
        EXPECT_EQ(order(in_turn, [&](int rank) { return rank / nodes % 2; }), "cyclic2:cyclic");
        // Racks in turn, too.
        const auto by_rack = [&](int rank) { return rank % racks * 2 + rank / racks % 2; };
        EXPECT_EQ(order(by_rack, [&](int rank) { return rank / nodes / 2; }), "cyclic:cyclic:block");
        // One socket after the other in two ranks each, and then again.
        EXPECT_EQ(order(in_block, [](int rank) { return rank % 4 == 1 || rank % 4 == 2 ? 1 : 0; })
                      .rfind("order-", 0),
                  0U);
    }
}

TEST(AnOrderOfRanks, IsTheSameWhereTheLastTurnIsNotWhole) {
    const auto uneven = placed(7, [](int rank) { return std::array{0, rank / 4, rank % 4 % 2}; });
    EXPECT_EQ(place::order(uneven), "block:cyclic");
}

TEST(AShapeBetweenTwo, IsFoundForTheOrderThatLaunchersHaveByDefault) {
    const auto dealt = [](int count) {
        return placed(4 * count, [](int rank) { return std::array{0, rank / 4, rank % 2}; });
    };
    std::vector<select::Rule> rules;
    for (const int count : {2, 6})
        rules.push_back(
            rule(place::shape(dealt(count), 0), "chain", 1, 1 << 20, 2, place::order(dealt(count))));
    const auto found = choice(plan_of(rules), dealt(4));
    EXPECT_EQ(found.basis, Basis::interpolated);
    // What rests on one rule that was found live is for the calls that such rules are for.
    rules.front().basis = Basis::live;
    EXPECT_EQ(choice(plan_of(rules), dealt(4)).basis, Basis::interpolated);
    EXPECT_EQ(choice(select::as_surveyed(plan_of(rules)), dealt(4)).basis, Basis::predicted);
    // A survey has found something else before.
    rules.front().surveyed = select::Measured{compose::parse_recipe("chain"), 1.5};
    EXPECT_EQ(choice(select::as_surveyed(plan_of(rules)), dealt(4)).basis, Basis::interpolated);
}

TEST(ARuleForAnotherOrder, IsNotMeasuredHereAndItsRecipeIsTriedFirst) {
    const std::string recipe = "hierarchical(machine=chain,node=chain)";
    const auto plan = plan_of({rule(shape(3, 4), recipe, 1, 1 << 20, 2, "cyclic")});
    EXPECT_EQ(choice(plan, nodes(3, 4, true)).basis, Basis::measured);
    const auto block = choice(plan, nodes(3, 4));
    EXPECT_EQ(block.basis, Basis::predicted);
    EXPECT_EQ(block.recipe, compose::Recipe{});
    EXPECT_NE(block.reason.find("ranks in this order (block) were not measured"), std::string::npos);
    const auto found = select::candidates(plan, collectives::named("bcast"), nodes(3, 4), 1000).recipes;
    EXPECT_EQ(compose::to_text(found.front()), recipe);
    // A rule without an order is for any, but where one of that order is.
    const auto both = plan_of({rule(shape(3, 4), "chain"), rule(shape(3, 4), "flat", 1, 9, 2, "block")});
    EXPECT_EQ(compose::to_text(choice(both, nodes(3, 4, true)).recipe), "chain");
    EXPECT_EQ(compose::to_text(choice(both, nodes(3, 4), 5).recipe), "flat");
    EXPECT_EQ(choice(both, nodes(3, 4), 10).basis, Basis::predicted);
}

TEST(WhatIsPredicted, EndsWhereRulesAroundItBegin) {
    const std::string recipe = "hierarchical(machine=chain,node=binomial)";
    const auto plan = plan_of({rule(shape(2, 4), recipe, 1, 2048),
                               rule(shape(2, 4), "hierarchical(machine=flat,node=flat)", 2049),
                               rule(shape(8, 4), "hierarchical(machine=flat,node=flat)")});
    const auto below = choice(plan, nodes(5, 4), 2048);
    EXPECT_EQ(below.basis, Basis::predicted);
    EXPECT_EQ(std::pair(below.min_bytes, below.max_bytes), std::pair(2048L, 2048L));
    const auto above = choice(plan, nodes(5, 4), 2049);
    EXPECT_EQ(above.basis, Basis::interpolated);
    EXPECT_EQ(std::pair(above.min_bytes, above.max_bytes), std::pair(2049L, 4095L));
}

TEST(ARecipeThatWasMeasured, IsNoCandidateWhereItsPriceWouldTakeTooMuchMemory) {
    const auto plan = plan_of({rule(shape(3, 4), "pairwise")});
    auto one = plan.rules.front();
    one.collective = "alltoall";
    const auto all = plan_of({one});
    const auto& alltoall = collectives::named("alltoall");
    const auto first = [&](int hosts) {
        return compose::to_text(select::candidates(all, alltoall, nodes(hosts, 4), 1000).recipes.front());
    };
    EXPECT_EQ(first(128), "pairwise");
    EXPECT_NE(first(129), "pairwise");
}

TEST(ALiveRule, SaysThatItIs) {
    auto live = rule(shape(3, 4), "chain");
    live.basis = Basis::live;
    const auto found = choice(plan_of({live}), nodes(3, 4));
    EXPECT_EQ(found.basis, Basis::live);
    EXPECT_EQ(found.reason, "found live: 2.00x faster than native for " + shape(3, 4));
}

TEST(AClassOfSizes, HoldsAllSizesOnce) {
    std::int64_t next = 0;
    for (int i = 0; i < 60; ++i) {
        const auto sizes = select::size_class(next);
        EXPECT_EQ(sizes.min_bytes, next);
        EXPECT_EQ(select::size_class(sizes.max_bytes).min_bytes, sizes.min_bytes);
        next = sizes.max_bytes + 1;
    }
    EXPECT_EQ(select::size_class(std::numeric_limits<std::int64_t>::max()).max_bytes,
              std::numeric_limits<std::int64_t>::max());
}

TEST(TheTreeOfTheHardware, HasTheLevelsThatDivideTheRanks) {
    using place::Seat;
    const auto two =
        place::of_hardware({{"a", {0, 0, 0}}, {"a", {0, 0, 1}}, {"a", {1, 1, 2}}, {"b", {0, 0, 0}}});
    EXPECT_EQ(two.levels, (std::vector<std::string>{"machine", "node", "socket", "l3"}));
    EXPECT_EQ(two.links.size(), two.levels.size());
    EXPECT_EQ(place::shape(two), "4 ranks in one machine; node 1x3+1x1; socket 1x2+2x1; l3 4x1");
    const auto unbound = place::of_hardware({{"a"}, {"b"}, {"a"}, {"b"}});
    EXPECT_EQ(place::shape(unbound), "4 ranks in one machine; node 2x2");
    EXPECT_EQ(place::order(unbound), "cyclic");
    const auto alone = place::of_hardware({{"a"}, {"a"}});
    EXPECT_EQ(place::shape(alone), "2 ranks in one node");
    EXPECT_EQ(alone.links.size(), 1U);
    const auto links = place::links_of(4e-3, 65536, 5e-3);
    EXPECT_DOUBLE_EQ(links.latency_s, 2e-3);
    EXPECT_NEAR(links.gap_s.at(65536), 5e-4, 1e-12);
}

TEST(NearNodes, AreBelowTheLargestGapIfThatIsAFactorOfTwo) {
    EXPECT_DOUBLE_EQ(place::near_below_s({4e-3, 1e-3, 1.2e-3, 5e-3}), std::sqrt(1.2e-3 * 4e-3));
    EXPECT_DOUBLE_EQ(place::near_below_s({1e-6, 3e-6, 30e-6}), std::sqrt(3e-6 * 30e-6));
    EXPECT_EQ(place::near_below_s({1.0, 1.9, 3.7}), 0);
    EXPECT_EQ(place::near_below_s({1.0}), 0);
    EXPECT_EQ(place::near_below_s({}), 0);
}

TEST(TheTreeOfTheHardware, HasSwitchesWhereTheyDivideTheNodes) {
    const auto nodes = place::of_hardware({{"a"}, {"b"}, {"a"}, {"c"}, {"b"}});
    auto two = nodes;
    place::add_switches(two, {0, 1, 0}, place::links_of(1e-3, 65536, 2e-3));
    EXPECT_EQ(two.levels, (std::vector<std::string>{"machine", "switch", "node"}));
    EXPECT_EQ(place::shape(two), "5 ranks in one machine; switch 1x3+1x2; node 2x2+1x1");
    EXPECT_DOUBLE_EQ(two.links[1].latency_s, 5e-4);
    EXPECT_EQ(two.links.size(), 3U);
    for (const std::vector<int>& idle : {std::vector{0, 0, 0}, std::vector{0, 1, 2}}) {
        auto same = nodes;
        place::add_switches(same, idle, two.links[1]);
        EXPECT_EQ(same.levels, nodes.levels);
    }
    auto alone = place::of_hardware({{"a"}, {"a"}});
    place::add_switches(alone, {0}, two.links[1]);
    EXPECT_EQ(alone.levels, (std::vector<std::string>{"node"}));
}

}  // namespace
}  // namespace isochrone::tests
