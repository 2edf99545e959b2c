// SPDX-License-Identifier: BSD-3-Clause
//
// The search for a recipe in a program's calls, with times that are made up.
#include "select/search.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "select/candidates.hpp"
#include "support/rules.hpp"

namespace isochrone::tests {
namespace {

using namespace core;
using select::MessageCost;
using select::Proposal;
using select::Search;

constexpr std::int64_t many_calls = 1 << 20;

/// A thread's time, of which each look at it takes some.
struct Clocked {
    double step_s = 0;
    double now_s = 0;
    Search::Clock clock() {
        return [this] { return now_s += step_s; };
    }
};

Search::Call call(const char* name, std::int64_t bytes) {
    return {&collectives::named(name), 0, bytes, false};
}

/// What other kinds have shown where each message takes so long.
MessageCost costing(double each_s) {
    MessageCost cost;
    cost.add({{{{}, 1, 1}, 5 + each_s}, {{{}, 1, 256}, 5 + 256 * each_s}});
    return cost;
}

/// Asks until something else is proposed, after as many calls as it is told to.
Proposal asked(Search& search, double incumbent_s, const MessageCost& elsewhere, std::int64_t& calls_so_far) {
    for (;;) {
        auto found = search.propose(incumbent_s, calls_so_far, elsewhere);
        if (found.what != Proposal::What::wait) return found;
        EXPECT_GT(found.wait_until, calls_so_far);
        if (found.wait_until <= calls_so_far) return {};
        calls_so_far = found.wait_until;
    }
}

TEST(ASearch, WaitsUntilCallsHaveTakenEnoughTimeForItsPrices) {
    const auto layout = nodes(4, 4);
    const select::Plan plan;
    constexpr double native_s = 1e-2;
    constexpr double price_s = 1e-3;
    Clocked time{.step_s = price_s};
    Search search(plan, layout, call("bcast", 1 << 20), time.clock());
    std::int64_t calls_so_far = 8;
    ASSERT_EQ(asked(search, native_s, {}, calls_so_far).what, Proposal::What::recipe);
    // Eight prices, and little more, as it says right after which calls it can go on.
    const double allowed_s = 0.0075 * native_s * static_cast<double>(calls_so_far);
    EXPECT_LE(time.now_s, allowed_s + 4 * price_s);
    EXPECT_GE(time.now_s, 8 * price_s);
    EXPECT_LE(allowed_s, 12 * price_s);
}

TEST(ASearch, ExpectsOfThePricesThatAreLackingWhatThoseBeforeTookLast) {
    const auto layout = nodes(4, 4);
    const select::Plan plan;
    constexpr double call_s = 1 / 0.0075;  // of which a second is for prices
    Clocked time{.step_s = 1};
    Search search(plan, layout, call("bcast", 1 << 20), time.clock());
    ASSERT_EQ(search.propose(call_s, 4, {}).what, Proposal::What::wait);
    const auto before_s = time.now_s;
    time.step_s = 10;
    const auto found = search.propose(call_s, 15, {});
    ASSERT_EQ(found.what, Proposal::What::wait);
    // One look is before the first of them.
    const double priced = 4 + (time.now_s - before_s - 10) / 10;
    EXPECT_NEAR(static_cast<double>(found.wait_until), time.now_s - 11 + 10 * (8 - priced), 1);
}

TEST(ASearch, ProposesWhatIsFastAfterWhatThoseBeforeTookAndNoneThatIsHopeless) {
    const auto layout = nodes(4, 4);
    const select::Plan plan;
    Clocked time;
    Search search(plan, layout, call("bcast", 1 << 20), time.clock());
    const auto first = search.propose(1, many_calls, {});
    ASSERT_EQ(first.what, Proposal::What::recipe);
    ASSERT_GT(first.priced.recipe.segment_bytes, 0);
    EXPECT_DOUBLE_EQ(first.expected_s, first.priced.seconds);
    EXPECT_FALSE(first.is_by_messages);
    search.tries(first.priced);
    // It could not run: nothing is known of what recipes take.
    const auto second = search.propose(1, many_calls, {});
    ASSERT_EQ(second.what, Proposal::What::recipe);
    EXPECT_NE(second.priced.recipe, first.priced.recipe);
    EXPECT_DOUBLE_EQ(second.expected_s, second.priced.seconds);
    search.tries(second.priced);
    const double took_s = 3 * second.priced.seconds;
    search.took(took_s, false);
    EXPECT_FALSE(search.is_full());
    const auto third = search.propose(took_s, many_calls, {});
    ASSERT_EQ(third.what, Proposal::What::recipe);
    EXPECT_GT(third.expected_s, 1.01 * third.priced.seconds);
    EXPECT_EQ(search.propose(third.expected_s / 2.1, many_calls, {}).what, Proposal::What::nothing);
    EXPECT_EQ(search.propose(third.expected_s / 1.9, many_calls, {}).what, Proposal::What::recipe);
    search.tries(third.priced);
    EXPECT_TRUE(search.is_full());
    EXPECT_FALSE(search.is_over());
    search.end();
    EXPECT_TRUE(search.is_over());
}

/// What runs was found by the model too, which errs alike in both.
TEST(ASearch, ExpectsOfTheNextAsManyTimesWhatRunsAsTheModelHasIt) {
    const auto layout = nodes(4, 4);
    const select::Plan plan;
    Clocked time;
    for (const double share : {0.8, 1.5}) {
        Search search(plan, layout, call("reduce", 1 << 16), time.clock());
        const auto first = search.propose(1, many_calls, {});
        ASSERT_EQ(first.what, Proposal::What::recipe);
        search.tries(first.priced);
        const double runs_s = share * first.priced.seconds;
        search.took(runs_s, true);
        // What is not kept is not what runs.
        const auto second = search.propose(runs_s, many_calls, {});
        ASSERT_EQ(second.what, Proposal::What::recipe);
        search.tries(second.priced);
        search.took(1.1 * second.priced.seconds, false);
        const auto next = search.propose(runs_s, many_calls, {});
        ASSERT_EQ(next.what, Proposal::What::recipe);
        const select::Expectation expected(search.tried());
        EXPECT_DOUBLE_EQ(next.expected_s, expected.of(next.priced) * runs_s / expected.of(first.priced));
    }
}

TEST(ASearch, IsForItsRootAndForTheOrderOfOperands) {
    const select::Plan plan;
    Clocked time;
    const auto& reduce = collectives::named("reduce");
    std::set<double> prices;
    auto layout = nodes(3, 4);
    layout.group_of[1].back() = 3;  // the last is alone on its node
    for (const bool in_order : {false, true}) {
        for (const int root : {0, 11}) {
            Search search(plan, layout, {&reduce, root, 1 << 16, in_order}, time.clock());
            const auto found = search.propose(1, many_calls, {});
            ASSERT_EQ(found.what, Proposal::What::recipe);
            select::Pricing all(select::candidates(plan, reduce, layout, 1 << 16, in_order), reduce, layout,
                                root, 1 << 16);
            while (all.step()) {
            }
            EXPECT_EQ(found.priced.recipe, all.cheapest().front().recipe) << root << in_order;
            EXPECT_DOUBLE_EQ(found.priced.seconds, all.cheapest().front().seconds) << root << in_order;
            prices.insert(found.priced.seconds);
        }
    }
    EXPECT_GE(prices.size(), 3U);  // not all are by chance the same
}

/// Calls of other kinds on the same communicator tell which comes first of those that may be faster. They do
/// not tell how long it takes, nor that nothing is worth a trial.
TEST(ASearch, BeginsWithFewerMessagesWhereThoseOfOtherKindsTookLong) {
    const select::Plan plan;
    int fewer = 0;
    for (const char* name : {"bcast", "reduce", "allreduce"}) {
        for (const auto& layout : {nodes(2, 2), nodes(3, 4), nodes(7, 2), nodes(8, 1), nodes(16, 1)}) {
            Clocked time;
            Search alone(plan, layout, call(name, 1 << 20), time.clock());
            const auto first = alone.propose(1, many_calls, {});
            ASSERT_EQ(first.what, Proposal::What::recipe);
            if (first.priced.recipe.segment_bytes == 0) continue;
            for (const double times_as_slow : {1.1, 1.5, 20.0}) {
                const double native_s = times_as_slow * first.priced.seconds;
                for (const double share : {0.0, 0.01, 0.1, 1.0, 100.0}) {
                    Search search(plan, layout, call(name, 1 << 20), time.clock());
                    const double each_s = share * first.priced.seconds;
                    const auto found = search.propose(native_s, many_calls, costing(each_s));
                    ASSERT_EQ(found.what, Proposal::What::recipe) << name << layout.size << share;
                    EXPECT_DOUBLE_EQ(found.expected_s, found.priced.seconds) << name;
                    EXPECT_LT(found.priced.seconds, native_s) << name;
                    EXPECT_EQ(found.is_by_messages, found.priced.recipe != first.priced.recipe) << name;
                    EXPECT_FALSE(share == 0 && found.is_by_messages) << name;
                    // Once one was measured, that is what is expected of others.
                    search.tries(found.priced);
                    search.took(found.priced.seconds, false);
                    EXPECT_FALSE(search.propose(native_s, many_calls, costing(each_s)).is_by_messages)
                        << name;
                    if (share >= 1 && times_as_slow == 20) {
                        EXPECT_EQ(found.priced.recipe.segment_bytes, 0) << name << layout.size;
                        ++fewer;
                    }
                }
            }
        }
    }
    EXPECT_GE(fewer, 12);
}

/// Other ranks have raced for the plan. What they took says which comes first where nothing else does, and no
/// more.
TEST(ASearch, BeginsWithWhatThePlanSaysOfMessagesUntilCallsShowIt) {
    const auto layout = nodes(7, 2);
    const auto asks = [&](const select::Plan& plan, const MessageCost& elsewhere, double missing) {
        Clocked time;
        Search search(plan, layout, call("bcast", 1 << 20), time.clock());
        const auto first = search.propose(1, many_calls, elsewhere);
        search.tries(first.priced);
        search.took(missing * first.priced.seconds, false);
        return std::pair{first, search.propose(1, many_calls, elsewhere)};
    };
    select::Plan slow, free;
    slow.messages = {0.1, 1e4};
    free.messages = {0, 1e4};
    const auto [first, second] = asks({}, {}, 3);
    EXPECT_GT(first.priced.recipe.segment_bytes, 0);
    EXPECT_LT(second.priced.messages, first.priced.messages);
    const auto of_slow = asks(slow, {}, 3).first;
    EXPECT_EQ(of_slow.priced.recipe.segment_bytes, 0);
    EXPECT_TRUE(of_slow.is_by_messages);
    const auto shown = [](double each_s) { return MessageCost(each_s, 1e4); };
    EXPECT_EQ(asks(slow, shown(0), 3).first.priced.recipe, first.priced.recipe);
    EXPECT_EQ(asks(free, shown(0.1), 3).first.priced.recipe, of_slow.priced.recipe);
    // What is missing in the first price is not taken for late ranks because it was not there on others.
    const auto of_free = asks(free, {}, 3);
    EXPECT_EQ(of_free.first.priced.recipe, first.priced.recipe);
    EXPECT_EQ(of_free.second.priced.recipe, second.priced.recipe);
    // After one with few messages was late, those in many are not next where the plan has them slow.
    const auto few = asks(slow, {}, 3).second;
    EXPECT_LE(few.priced.messages, 2 * of_slow.priced.messages) << compose::to_text(few.priced.recipe);
}

/// What the plan has proven has a price that holds its messages: a program waits for no other prices.
TEST(ASearch, BeginsAsSoonWithWhatIsProvenWhateverMessagesTake) {
    auto plan = plan_of({rule(shape(8, 2), "hierarchical(machine=chain,node=chain)"),
                         rule(shape(2, 2), "hierarchical(machine=chain,node=flat)@32768")});
    for (auto& proven : plan.rules) proven.took = 1.5;
    for (const std::int64_t bytes : {std::int64_t{1000}, std::int64_t{1} << 20}) {
        std::set<std::int64_t> calls;
        for (const double each_s : {0.0, 1e-5}) {
            for (const double here_s : {0.0, 1e-5}) {
                plan.messages = {each_s, 1e4};
                Clocked time{.step_s = 1e-3};
                const auto layout = nodes(7, 2);
                Search search(plan, layout, call("bcast", bytes), time.clock());
                std::int64_t so_far = 8;
                const auto found = asked(search, 1e-2, {here_s, 1e4}, so_far);
                EXPECT_EQ(found.what, Proposal::What::recipe);
                EXPECT_TRUE(found.priced.is_raced()) << compose::to_text(found.priced.recipe);
                calls.insert(so_far);
            }
        }
        EXPECT_EQ(calls.size(), 1U) << bytes;
    }
}

/// Calls that last a short time leave none for many prices.
TEST(ASearch, BeginsWithFewerMessagesAfterAsFewPricesAsWithout) {
    const auto& bcast = collectives::named("bcast");
    const auto plan = plan_of({rule(shape(8, 2), "hierarchical(machine=chain,node=chain)@32768"),
                               rule(shape(2, 2), "hierarchical(machine=chain,node=flat)@32768")});
    for (const auto& of_none : {select::Plan(), plan}) {
        for (const auto& layout : {nodes(3, 4), nodes(7, 2), nodes(4, 4)}) {
            std::int64_t calls_without = 8, calls_with = 8;
            Clocked time{.step_s = 1e-3};
            Search without(of_none, layout, {&bcast, 0, 1 << 20, false}, time.clock());
            const auto first = asked(without, 1e-2, {}, calls_without);
            ASSERT_EQ(first.what, Proposal::What::recipe);
            ASSERT_GT(first.priced.recipe.segment_bytes, 0);
            Search with(of_none, layout, {&bcast, 0, 1 << 20, false}, time.clock());
            const auto found = asked(with, 1e-2, costing(0.1), calls_with);
            ASSERT_EQ(found.what, Proposal::What::recipe);
            EXPECT_LT(found.priced.messages, first.priced.messages);
            EXPECT_LE(calls_with, 150);
        }
    }
}

}  // namespace
}  // namespace isochrone::tests
