// SPDX-License-Identifier: BSD-3-Clause
//
// What runs on shapes, sizes and orders of ranks that were not measured.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "compose/resolve.hpp"
#include "place/hardware.hpp"
#include "select/candidates.hpp"
#include "select/choose.hpp"
#include "select/shapes.hpp"
#include "simulate/predict.hpp"
#include "support/random_layout.hpp"

namespace isochrone::tests {
namespace {

using namespace core;
using select::Basis;

select::Rule rule(const std::string& shape, const std::string& recipe, std::int64_t min_bytes = 1,
                  std::int64_t max_bytes = 1 << 20, double speedup = 2, const std::string& order = "") {
    return {.collective = "bcast",
            .shape = shape,
            .min_bytes = min_bytes,
            .max_bytes = max_bytes,
            .recipe = compose::parse_recipe(recipe),
            .speedup = speedup,
            .order = order};
}

select::Plan plan_of(std::vector<select::Rule> rules) {
    select::Plan plan;
    plan.rules = std::move(rules);
    std::sort(plan.rules.begin(), plan.rules.end(), [](const auto& a, const auto& b) {
        return std::tie(a.shape, a.order, a.min_bytes) < std::tie(b.shape, b.order, b.min_bytes);
    });
    return plan;
}

/// `per_node` ranks on each of some nodes.
place::Layout nodes(int count, int per_node, bool cyclic = false) {
    place::Layout layout{count * per_node, {"machine", "node"}, {{}, {}}, {}};
    const plogp::Parameters links{.latency_s = 1e-5,
                                  .send_overhead_s = {{{0, 1e-7}}},
                                  .receive_overhead_s = {{{0, 1e-7}}},
                                  .gap_s = {{{0, 1e-7}, {1000000, 1e-3}}}};
    layout.links = {links, links};
    for (int rank = 0; rank < layout.size; ++rank) {
        layout.group_of[0].push_back(0);
        layout.group_of[1].push_back(cyclic ? rank % count : rank / per_node);
    }
    return layout;
}

std::string shape(int count, int per_node) { return place::shape(nodes(count, per_node), 0); }

select::Choice choice(const select::Plan& plan, const place::Layout& layout, std::int64_t bytes = 1000) {
    return select::choose(plan, collectives::named("bcast"), layout, 0, bytes);
}

TEST(AShape, IsReadAsItIsWritten) {
    std::mt19937_64 random(4);
    for (int trial = 0; trial < 200; ++trial) {
        const auto layout = random_layout(1 + static_cast<int>(random() % 40), 4, random);
        const auto read = select::parse_shape(place::shape(layout, 0));
        ASSERT_TRUE(read) << place::shape(layout, 0);
        EXPECT_EQ(read->numbers.front(), layout.size);
        EXPECT_EQ(read->numbers.size(), 1 + 4 * read->levels.size());
        EXPECT_EQ(select::width_around(*read, *read, *read), 0);
    }
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

TEST(AShapeBetweenTwo, IsNativeWithoutATrialWhereBothAre) {
    const auto plan = plan_of({rule(shape(2, 4), "native"), rule(shape(8, 4), "native")});
    const auto found = choice(plan, nodes(4, 4));
    EXPECT_EQ(found.recipe, compose::Recipe{});
    EXPECT_EQ(found.basis, Basis::interpolated);
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

TEST(ALiveRule, SaysThatItIs) {
    auto live = rule(shape(3, 4), "chain");
    live.basis = Basis::live;
    const auto found = choice(plan_of({live}), nodes(3, 4));
    EXPECT_EQ(found.basis, Basis::live);
    EXPECT_EQ(found.reason, "found live: 2.00x faster than native for " + shape(3, 4));
}

TEST(Candidates, FitAndHaveAPriceForEveryCollectiveOnAnyLayout) {
    std::mt19937_64 random(6);
    for (const auto& collective : collectives::all()) {
        for (int trial = 0; trial < 8; ++trial) {
            const auto layout = random_layout(2 + static_cast<int>(random() % 14), 3, random);
            const std::int64_t bytes = !collective.has_data ? 0 : trial % 2 == 0 ? 100 : 100000;
            const auto found = select::candidates({}, collective, layout, bytes).recipes;
            ASSERT_FALSE(found.empty()) << collective.name;
            EXPECT_LE(found.size(), 120U) << collective.name;
            select::Pricing pricing({found}, collective, layout, 0, bytes);
            while (pricing.step()) {
            }
            ASSERT_FALSE(pricing.cheapest().empty()) << collective.name;
            for (const auto& recipe : found) {
                EXPECT_NO_THROW(static_cast<void>(compose::resolve(collective, recipe, layout)))
                    << compose::to_text(recipe);
                EXPECT_GE(simulate::predict(collective, recipe, layout, 0, bytes).slowest_s,
                          pricing.cheapest().front().seconds);
            }
        }
    }
}

TEST(Candidates, ThatAreTriedDifferInMoreThanTheSegmentAndTheCheapestComesFirst) {
    const auto layout = nodes(3, 4, true);
    const auto& bcast = collectives::named("bcast");
    select::Pricing pricing(select::candidates({}, bcast, layout, 1000000), bcast, layout, 0, 1000000);
    while (pricing.step()) {
    }
    const auto& tried = pricing.cheapest();
    ASSERT_EQ(tried.size(), select::most_tried);
    for (std::size_t one = 1; one < tried.size(); ++one) {
        EXPECT_GE(tried[one].seconds, tried[one - 1].seconds);
        for (std::size_t other = 0; other < one; ++other)
            EXPECT_FALSE(tried[one].recipe.kind == tried[other].recipe.kind &&
                         tried[one].recipe.parts == tried[other].recipe.parts);
    }
}

TEST(Candidates, ThatAreTheSameMessagesByAnotherNameAreTriedOnce) {
    const auto& allreduce = collectives::named("allreduce");
    for (const int hosts : {2, 3, 4, 8}) {
        const auto layout = nodes(hosts, 2, true);
        select::Pricing pricing(select::candidates({}, allreduce, layout, 65536), allreduce, layout, 0,
                                65536);
        while (pricing.step()) {
        }
        const auto& tried = pricing.cheapest();
        ASSERT_EQ(tried.size(), select::most_tried);
        std::set<std::vector<double>> prices;  // of each, cut and not
        for (auto [recipe, seconds] : tried) {
            std::vector<double> both;
            for (const std::int64_t segment : {std::int64_t{0}, std::int64_t{8192}}) {
                recipe.segment_bytes = segment;
                both.push_back(simulate::predict(allreduce, recipe, layout, 0, 65536).slowest_s);
            }
            prices.insert(both);
        }
        EXPECT_EQ(prices.size(), tried.size()) << hosts << " hosts";
    }
}

/// Where the plan has proven a recipe on other shapes, a program need not wait for the prices of others.
TEST(Candidates, ThatAreProvenElsewhereSufficeForTheFirstTrialIfOneIsFasterByTheModel) {
    const auto plan = plan_of({rule(shape(4, 4), "hierarchical(machine=chain,node=chain)"),
                               rule(shape(2, 4), "hierarchical(machine=flat,node=flat)")});
    const auto layout = nodes(3, 4);
    const auto& bcast = collectives::named("bcast");
    const auto found = select::candidates(plan, bcast, layout, 1000);
    ASSERT_EQ(found.proven, 2U);
    ASSERT_GT(found.recipes.size(), 8U);
    select::Pricing pricing(found, bcast, layout, 0, 1000);
    constexpr double slow_s = 1, fast_s = 1e-9;
    EXPECT_EQ(pricing.lacking(slow_s, {}), 2U);
    ASSERT_TRUE(pricing.step());
    EXPECT_EQ(pricing.lacking(fast_s, {}), 1U);
    ASSERT_TRUE(pricing.step());
    EXPECT_EQ(pricing.lacking(slow_s, {}), 0U);
    EXPECT_EQ(pricing.lacking(fast_s, {}), 6U);
    // Of a plan that has proven nothing like it, some of all.
    select::Pricing of_none(select::candidates({}, bcast, layout, 1000), bcast, layout, 0, 1000);
    EXPECT_EQ(of_none.lacking(slow_s, {}), 8U);
}

/// Few are tried: so what the model finds slower than what runs is not, before all have a price.
TEST(Candidates, AfterTheFirstTrialAreTriedOnceTheyAreCheaperThanWhatRunsOrNoneIsLeft) {
    const auto& reduce = collectives::named("reduce");
    // Among two hosts of two ranks the first eight are the same messages by other names.
    for (const auto& layout : {nodes(2, 2), nodes(4, 4)}) {
        const auto found = select::candidates({}, reduce, layout, 1 << 20);
        ASSERT_GT(found.recipes.size(), 16U);
        select::Pricing pricing(found, reduce, layout, 0, 1 << 20);
        while (pricing.priced() < 8) ASSERT_TRUE(pricing.step());
        const auto first = *pricing.next({});
        const std::vector tried{first};
        int asked_for_more = 0;
        do {
            const auto* const next = pricing.next(tried);
            for (const double incumbent_s : {first.seconds, 1.1 * first.seconds, 2 * first.seconds}) {
                const bool is_cheaper = next != nullptr && next->seconds < incumbent_s;
                const std::size_t lacking = pricing.lacking(incumbent_s, tried);
                EXPECT_EQ(lacking == 0, is_cheaper || pricing.is_done()) << pricing.priced();
                EXPECT_LE(lacking, 8U);
                asked_for_more += lacking > 0 ? 1 : 0;
            }
        } while (pricing.step());
        EXPECT_GT(asked_for_more, 0) << layout.size;
        ASSERT_NE(pricing.next(tried), nullptr) << layout.size;
    }
}

/// What the plan has proven elsewhere has a segment for other sizes and ranks.
TEST(Candidates, AreTriedInAnotherSegmentIfThatIsCheaperByMoreThanTrialsCannotTell) {
    const auto layout = nodes(4, 4);
    const auto& reduce = collectives::named("reduce");
    select::Pricing pricing(select::candidates({}, reduce, layout, 1 << 20), reduce, layout, 0, 1 << 20);
    while (pricing.step()) {
    }
    const auto best = pricing.cheapest().front();
    auto tried = best;
    tried.recipe.segment_bytes = best.recipe.segment_bytes / 2 + 1;
    for (const double share : {1.0, 1.04}) {
        tried.seconds = share * best.seconds;
        const auto* const next = pricing.next({tried});
        ASSERT_NE(next, nullptr);
        EXPECT_FALSE(select::are_alike(next->recipe, tried.recipe)) << share;
    }
    tried.seconds = 1.1 * best.seconds;
    EXPECT_EQ(pricing.next({tried})->recipe, best.recipe);
    // It is tried once.
    EXPECT_FALSE(select::are_alike(pricing.next({tried, best})->recipe, best.recipe));
}

TEST(Candidates, KeepTheOrderOfOperandsWhereItIsAskedFor) {
    const auto layout = nodes(3, 4, true);
    const auto& reduce = collectives::named("reduce");
    for (const auto& recipe : select::candidates({}, reduce, layout, 100000, true).recipes)
        EXPECT_NO_THROW(static_cast<void>(compose::resolve(reduce, recipe, layout, true)));
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

}  // namespace
}  // namespace isochrone::tests
