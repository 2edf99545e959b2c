// SPDX-License-Identifier: BSD-3-Clause
//
// What may be tried where nothing was measured, and in which order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "compose/resolve.hpp"
#include "select/candidates.hpp"
#include "select/pricing.hpp"
#include "simulate/predict.hpp"
#include "support/random_layout.hpp"
#include "support/rules.hpp"

namespace isochrone::tests {
namespace {

using namespace core;

TEST(Candidates, FitAndHaveAPriceForEveryCollectiveOnAnyLayout) {
    std::mt19937_64 random(6);
    for (const auto& collective : collectives::all()) {
        for (int trial = 0; trial < 8; ++trial) {
            const auto layout = random_layout(2 + static_cast<int>(random() % 14), 3, random);
            const std::int64_t bytes = !collective.has_data ? 0 : trial % 2 == 0 ? 100 : 100000;
            const auto candidates = select::candidates({}, collective, layout, bytes);
            const auto& found = candidates.recipes;
            ASSERT_FALSE(found.empty()) << collective.name;
            EXPECT_LE(found.size(), 120U) << collective.name;
            select::Pricing pricing(candidates, collective, layout, 0, bytes);
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
        for (auto [recipe, seconds, messages, took] : tried) {
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
    EXPECT_EQ(pricing.lacking(slow_s, select::Expectation({})), 2U);
    ASSERT_TRUE(pricing.step());
    EXPECT_EQ(pricing.lacking(fast_s, select::Expectation({})), 1U);
    EXPECT_EQ(pricing.lacking(slow_s, select::Expectation({})), 1U);
    // One suffices if it is known what it took.
    auto known = plan;
    for (auto& proven : known.rules) proven.took = 1;
    select::Pricing sure(select::candidates(known, bcast, layout, 1000), bcast, layout, 0, 1000);
    ASSERT_TRUE(sure.step());
    EXPECT_EQ(sure.lacking(fast_s, select::Expectation({})), 1U);
    EXPECT_EQ(sure.lacking(slow_s, select::Expectation({})), 0U);
    ASSERT_TRUE(pricing.step());
    EXPECT_EQ(pricing.lacking(slow_s, select::Expectation({})), 0U);
    EXPECT_EQ(pricing.lacking(fast_s, select::Expectation({})), 6U);
    // Of a plan that has proven nothing like it, some of all.
    select::Pricing of_none(select::candidates({}, bcast, layout, 1000), bcast, layout, 0, 1000);
    EXPECT_EQ(of_none.lacking(slow_s, select::Expectation({})), 8U);
}

/// The first are alike: of two levels, in one segment. So where none of them is worth a trial others may be.
TEST(Candidates, ArePricedUntilOneIsWorthATrialOrNoneIsLeft) {
    const auto& allreduce = collectives::named("allreduce");
    for (const auto& layout : {nodes(4, 2), nodes(3, 1), nodes(1, 16)}) {
        select::Pricing all(select::candidates({}, allreduce, layout, 65536), allreduce, layout, 0, 65536);
        while (all.step()) {
        }
        const double best_s = all.cheapest().front().seconds;
        for (const double incumbent_s : {best_s / 3, best_s / 1.9, best_s, 3 * best_s, 1e3 * best_s}) {
            select::Pricing pricing(select::candidates({}, allreduce, layout, 65536), allreduce, layout, 0,
                                    65536);
            const select::Expectation none({});
            while (pricing.lacking(incumbent_s, none) > 0) ASSERT_TRUE(pricing.step());
            EXPECT_GE(pricing.priced(), std::min<std::size_t>(8, all.priced()));
            const bool is_worth_it = pricing.next(none)->seconds <= select::hopeless * incumbent_s;
            EXPECT_EQ(is_worth_it, best_s <= select::hopeless * incumbent_s) << layout.size;
            EXPECT_TRUE(is_worth_it || pricing.is_done());
        }
    }
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
        const auto first = *pricing.next(select::Expectation({}));
        int asked_for_more = 0;
        do {
            for (const double measured_s : {0.0, 3 * first.seconds}) {
                const std::vector<select::Tried> tried{{first, measured_s}};
                const auto* const next = pricing.next(select::Expectation(tried));
                for (const double incumbent_s : {first.seconds, 1.1 * first.seconds, 2 * first.seconds}) {
                    const bool is_faster =
                        next != nullptr && select::Expectation(tried).of(*next) < incumbent_s;
                    const std::size_t lacking = pricing.lacking(incumbent_s, select::Expectation(tried));
                    EXPECT_EQ(lacking == 0, is_faster || pricing.is_done()) << pricing.priced();
                    EXPECT_LE(lacking, 8U);
                    asked_for_more += lacking > 0 ? 1 : 0;
                }
            }
        } while (pricing.step());
        EXPECT_GT(asked_for_more, 0) << layout.size;
        ASSERT_NE(pricing.next(select::Expectation({{first}})), nullptr) << layout.size;
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
        const auto* const next = pricing.next(select::Expectation({{tried}}));
        ASSERT_NE(next, nullptr);
        EXPECT_FALSE(select::are_alike(next->recipe, tried.recipe)) << share;
    }
    tried.seconds = 1.1 * best.seconds;
    EXPECT_EQ(pricing.next(select::Expectation({{tried}}))->recipe, best.recipe);
    // It is tried once.
    EXPECT_FALSE(
        select::are_alike(pricing.next(select::Expectation({{tried}, {best}}))->recipe, best.recipe));
}

/// Of each number of messages some are kept: cheap ones in many take no place of what goes in few.
TEST(Candidates, AreKeptThatAreTheFastestIfAMessageTakesSoLong) {
    std::set<std::string> chosen;
    for (const char* name : {"bcast", "reduce", "allreduce", "allgather"}) {
        const auto& collective = collectives::named(name);
        for (const auto& layout : {nodes(7, 2), nodes(8, 1), nodes(3, 4)}) {
            const auto found = select::candidates({}, collective, layout, 1 << 20);
            select::Pricing pricing(found, collective, layout, 0, 1 << 20);
            while (pricing.step()) {
            }
            for (const double each_s : {1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1.0}) {
                double best_s = std::numeric_limits<double>::infinity();
                for (const auto& recipe : found.recipes) {
                    const auto resolved = compose::resolve(collective, recipe, layout);
                    const auto composed = simulate::composed(resolved, layout, 0, 1 << 20);
                    const auto messages = static_cast<double>(simulate::messages(composed, layout));
                    const double price_s = simulate::predict(resolved, layout, 0, 1 << 20).slowest_s;
                    best_s = std::min(best_s, price_s + each_s * messages);
                }
                const select::MessageCost cost(each_s, 1e9);
                const auto* const kept = pricing.next_by_messages(select::Expectation({}), cost, {}, 1e9);
                ASSERT_NE(kept, nullptr);
                EXPECT_NEAR(kept->seconds + each_s * kept->messages, best_s, 1e-9 * best_s)
                    << name << layout.size << " " << each_s;
                chosen.insert(compose::to_text(kept->recipe));
            }
        }
    }
    EXPECT_GE(chosen.size(), 8U);  // not one is the fastest in any case
}

/// The model errs alike where the same links are in other numbers: what a recipe took of its price there it
/// takes here too, with all that its messages take.
TEST(Candidates, ThatAreProvenElsewhereCostWhatTheyTookThere) {
    const std::string tree = "hierarchical(machine=chain,node=flat)@32768";
    const auto& bcast = collectives::named("bcast");
    constexpr std::int64_t bytes = 1 << 20;
    for (const auto& layout : {nodes(8, 1), nodes(3, 4), nodes(7, 2)}) {
        const double model_s =
            simulate::predict(bcast, compose::parse_recipe(tree), layout, 0, bytes).slowest_s;
        for (const double took : {0.01, 0.5, 1.0, 100.0}) {
            auto proven = rule(shape(8, 2), tree);
            proven.took = took;
            auto of_other_size = rule(shape(2, 2), tree, (1 << 20) + 1, 1 << 21);
            of_other_size.took = 7;
            select::Pricing pricing(
                select::candidates(plan_of({of_other_size, proven}), bcast, layout, bytes), bcast, layout, 0,
                bytes);
            ASSERT_TRUE(pricing.step());
            const select::Expectation none({});
            const auto first = *pricing.next(none);
            EXPECT_EQ(compose::to_text(first.recipe), tree);
            EXPECT_TRUE(first.is_raced());
            EXPECT_DOUBLE_EQ(first.took, took);
            EXPECT_NEAR(first.model_s(), model_s, 1e-9 * model_s);
            EXPECT_NEAR(first.seconds, took * model_s, 1e-9 * model_s);
            while (pricing.step()) {
            }
            const auto* const next = pricing.next_by_messages(none, {}, {1e-5, 1e4}, 1e9);
            ASSERT_NE(next, nullptr);
            if (took != 1) {
                EXPECT_EQ(next->is_raced(), took < 1) << compose::to_text(next->recipe) << took;
            }
            // Nor is it there by another name, for its price by the model.
            std::vector<select::Tried> tried{{first, 100 * first.seconds}};
            for (const auto* other = pricing.next(select::Expectation(tried)); other != nullptr;
                 other = pricing.next(select::Expectation(tried))) {
                EXPECT_FALSE(std::abs(other->seconds - model_s) < 1e-6 * model_s)
                    << compose::to_text(other->recipe);
                tried.push_back({*other, other->seconds});
            }
        }
    }
}

/// Where each message takes longer than the model has it, as where ranks share cores, the same tree may be
/// fast in fewer segments.
TEST(Candidates, AreTriedWithFewerMessagesAfterManyTookLongerThanPredicted) {
    int cut = 0;
    for (const char* name : {"bcast", "reduce", "allreduce"}) {
        const auto& collective = collectives::named(name);
        for (const auto& layout : {nodes(2, 2), nodes(3, 4), nodes(7, 2)}) {
            for (const std::int64_t bytes : {std::int64_t{1} << 16, std::int64_t{3} << 19}) {
                select::Pricing pricing(select::candidates({}, collective, layout, bytes), collective, layout,
                                        0, bytes);
                while (pricing.step()) {
                }
                select::Tried first{*pricing.next(select::Expectation({})), 0};
                if (first.priced.recipe.segment_bytes == 0) continue;
                ++cut;
                first.measured_s = first.priced.seconds;
                const auto* next = pricing.next(select::Expectation({first}));
                ASSERT_NE(next, nullptr) << name;
                EXPECT_FALSE(select::are_alike(next->recipe, first.priced.recipe)) << name;
                first.measured_s = 3 * first.priced.seconds;
                next = pricing.next(select::Expectation({first}));
                ASSERT_NE(next, nullptr) << name;
                EXPECT_LT(next->messages, first.priced.messages) << name;
                EXPECT_LT(select::Expectation({first}).of(*next), first.measured_s) << name;
            }
        }
    }
    EXPECT_GE(cut, 12);
}

/// `pipeline` is a chain in segments of 32 KiB.
TEST(Candidates, AreNotTriedTwiceByTwoNames) {
    for (const char* name : {"bcast", "reduce"}) {
        const auto& collective = collectives::named(name);
        for (const auto& layout : {nodes(2, 2), nodes(4, 4)}) {
            select::Pricing pricing(select::candidates({}, collective, layout, 1 << 20), collective, layout,
                                    0, 1 << 20);
            while (pricing.step()) {
            }
            std::vector<select::Tried> tried;
            while (const auto* const next = pricing.next(select::Expectation(tried))) {
                for (const auto& [before, measured_s] : tried) {
                    EXPECT_FALSE(before.messages == next->messages &&
                                 std::abs(before.seconds - next->seconds) < 1e-6 * next->seconds)
                        << compose::to_text(before.recipe) << " " << compose::to_text(next->recipe);
                }
                tried.push_back({*next, next->seconds});
            }
            EXPECT_GE(tried.size(), select::most_tried) << name << layout.size;
        }
    }
}

TEST(Candidates, KeepTheOrderOfOperandsWhereItIsAskedFor) {
    const auto layout = nodes(3, 4, true);
    const auto& reduce = collectives::named("reduce");
    for (const auto& recipe : select::candidates({}, reduce, layout, 100000, true).recipes)
        EXPECT_NO_THROW(static_cast<void>(compose::resolve(reduce, recipe, layout, true)));
}

}  // namespace
}  // namespace isochrone::tests
