// SPDX-License-Identifier: BSD-3-Clause
//
// What a recipe is expected to take, after what those before took.
#include "select/expectation.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace isochrone::tests {
namespace {

using namespace core;
using select::Expectation;
using select::MessageCost;
using select::Tried;

select::Priced one(double seconds, double messages) { return {{}, seconds, messages}; }

MessageCost cost_of(const std::vector<std::vector<Tried>>& kinds) {
    MessageCost cost;
    for (const auto& tried : kinds) cost.add(tried);
    return cost;
}

TEST(ARecipe, IsExpectedToTakeWhatOthersTookBesideTheirPrices) {
    const auto expected = [](double seconds, double messages, std::vector<Tried> tried) {
        return Expectation(std::move(tried)).of(one(seconds, messages));
    };
    EXPECT_DOUBLE_EQ(expected(5, 4, {}), 5);
    // While nothing else is known it is due to messages.
    const Tried cut{one(10, 16), 42};
    EXPECT_DOUBLE_EQ(expected(5, 16, {cut}), 37);
    EXPECT_DOUBLE_EQ(expected(5, 1, {cut}), 7);
    // What could not run tells nothing, and nothing is expected to be faster than its price.
    EXPECT_DOUBLE_EQ(expected(5, 1, {cut, {one(1, 16), 0}}), 7);
    EXPECT_DOUBLE_EQ(expected(5, 8, {{one(10, 16), 4}}), 5);
    // What one message took is not taken for what each of many takes.
    const Tried uncut{one(10, 1), 20};
    EXPECT_DOUBLE_EQ(expected(5, 16, {uncut}), 15);
    // Ranks that come late are waited for with any number of messages.
    const std::vector<Tried> late{{one(10, 16), 20}, {one(14, 1), 24}};
    EXPECT_DOUBLE_EQ(expected(5, 16, late), 15);
    EXPECT_DOUBLE_EQ(expected(5, 1, late), 15);
    // Both: 3, and 2 for each message.
    const std::vector<Tried> both{{one(10, 16), 45}, {one(14, 1), 19}};
    EXPECT_NEAR(expected(5, 8, both), 24, 1e-9);
    // What lets many messages look as if they cost less than nothing is as much for all.
    EXPECT_NEAR(expected(5, 16, {{one(10, 16), 10}, uncut}), 10, 1e-9);
}

/// The sum of squares of what is left of those tried.
double left(const std::vector<Tried>& tried, double all_s, double each_s) {
    double sum = 0;
    for (const auto& [priced, measured_s] : tried) {
        const double beside_s = measured_s - priced.seconds - all_s - each_s * priced.messages;
        sum += beside_s * beside_s;
    }
    return sum;
}

TEST(WhatIsExpected, IsTheBestFitThatIsNotBelowZero) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> some(-10, 10);
    for (int trial = 0; trial < 200; ++trial) {
        std::vector<Tried> tried;
        for (const double messages : {1.0, 8.0, 32.0})
            tried.push_back({one(100, messages), 100 + some(random)});
        const Expectation expected(tried);
        const double each_s = (expected.of(one(0, 32)) - expected.of(one(0, 1))) / 31;
        const double all_s = expected.of(one(0, 1)) - each_s;
        EXPECT_GE(each_s, 0);
        EXPECT_GE(all_s, -1e-12);
        const double least = left(tried, all_s, each_s) - 1e-9;
        constexpr double step = 1e-3;
        for (const double more_s : {-step, 0.0, step}) {
            for (const double more_each_s : {-step, 0.0, step}) {
                if (all_s + more_s < 0 || each_s + more_each_s < 0) continue;
                EXPECT_GE(left(tried, all_s + more_s, each_s + more_each_s), least) << trial;
            }
        }
    }
}

/// Kinds of calls differ in what their bytes take and in how late ranks come, and agree in their messages.
TEST(CallsOfOtherKinds, TellWhatAMessageTakesEachBesideItsOwnMean) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> some(1, 9);
    for (int trial = 0; trial < 20; ++trial) {
        const double each_s = some(random);
        std::vector<std::vector<Tried>> kinds;
        for (const double most : {4.0, 32.0, 8.0}) {
            auto& tried = kinds.emplace_back();
            const double all_s = 100 * some(random);
            for (const double messages : {1.0, 2.0, most}) {
                const double price_s = some(random);
                tried.push_back({one(price_s, messages), price_s + all_s + each_s * messages});
            }
        }
        kinds.push_back({{one(1, 64), 900}});  // all in as many
        const MessageCost elsewhere = cost_of(kinds);
        EXPECT_TRUE(elsewhere.is_known());
        EXPECT_NEAR(elsewhere.each_s(), each_s, 1e-9);
        EXPECT_EQ(elsewhere.most_messages(), 32);
        // Before any of its own kind was measured a recipe is expected to take its price.
        const Expectation none({{one(3, 8), 0}}, elsewhere);
        EXPECT_FALSE(none.is_measured());
        EXPECT_DOUBLE_EQ(none.of(one(7, 16)), 7);
        // After one of its own the rest of what that took is due to all alike.
        const Expectation first({{one(10, 16), 12 + 16 * each_s}}, elsewhere);
        EXPECT_TRUE(first.is_measured());
        EXPECT_NEAR(first.of(one(5, 1)), 7 + each_s, 1e-9);
        EXPECT_NEAR(first.of(one(5, 99)), 7 + 32 * each_s, 1e-9);
        // It cannot have taken more for its messages than it took.
        EXPECT_NEAR(Expectation({{one(10, 16), 10.5}}, elsewhere).of(one(5, 1)), 5 + 0.5 / 16, 1e-9);
        // What differed among its own goes before.
        const std::vector<Tried> own{{one(10, 16), 26}, {one(10, 1), 11}};
        EXPECT_NEAR(Expectation(own, elsewhere).of(one(5, 8)), 13, 1e-9);
    }
}

TEST(CallsOfOtherKinds, TellOfMessagesAllTogether) {
    // One says that they cost 2. Another says that they save a quarter, and counts more, as its calls take
    // less time. A third counts less, as it differs in fewer.
    const MessageCost elsewhere = cost_of({{{one(1, 1), 10}, {one(1, 5), 18}},
                                           {{one(1, 1), 10}, {one(1, 5), 9}},
                                           {{one(1, 1), 10}, {one(1, 2), 13}}});
    const double first = 1 / (14.0 * 14), second = 1 / (9.5 * 9.5), third = 1 / (11.5 * 11.5);
    EXPECT_NEAR(elsewhere.each_s(),
                (16 * first - 2 * second + 1.5 * third) / (8 * first + 8 * second + 0.5 * third), 1e-12);
}

/// In as many messages as nothing was tried with, each takes as long as when the plan was made.
TEST(MessagesBeyondThoseTried, TakeAsLongAsInTheRacesOfThePlan) {
    const MessageCost raced(0.25, 100);
    const auto expected = [&](double messages, const std::vector<Tried>& tried,
                              const MessageCost& elsewhere = {}) {
        return Expectation(tried, elsewhere, raced).of(one(5, messages));
    };
    EXPECT_DOUBLE_EQ(expected(50, {}), 5);
    const Tried few{one(10, 4), 18};
    EXPECT_DOUBLE_EQ(expected(2, {few}), 5 + 4);
    EXPECT_DOUBLE_EQ(expected(4, {few}), 5 + 8);
    EXPECT_DOUBLE_EQ(expected(54, {few}), 5 + 8 + 50 * 0.25);
    EXPECT_DOUBLE_EQ(expected(1e9, {few}), 5 + 8 + 96 * 0.25);
    // Many were tried: nothing is beyond them.
    EXPECT_DOUBLE_EQ(expected(1e9, {{one(10, 200), 50}}), 5 + 40);
    // What calls have shown on the same ranks goes before it, as far as that goes.
    EXPECT_DOUBLE_EQ(expected(40, {few}, MessageCost(1, 30)), 5 + 4 + 30 * 1 + 10 * 0.25);
    EXPECT_DOUBLE_EQ(MessageCost(1, 30).of(40, raced), 30 + 10 * 0.25);
    EXPECT_DOUBLE_EQ(MessageCost().of(40, raced), 40 * 0.25);
    EXPECT_DOUBLE_EQ(MessageCost().of(40, {}), 0);
}

/// The price of what was raced holds its messages: what is missing in it is due to late ranks.
TEST(WhatWasRaced, HasItsMessagesInItsPrice) {
    const auto raced = [](double seconds) { return select::Priced{{}, seconds, 16, 1}; };
    const Expectation expected({{raced(10), 12}});
    EXPECT_DOUBLE_EQ(expected.of(one(5, 1)), 7);
    EXPECT_DOUBLE_EQ(expected.of(raced(5)), 7);
    const Expectation both({{raced(10), 12}, {one(10, 4), 20}});
    EXPECT_NEAR(both.of(raced(5)), 7, 1e-9);
    EXPECT_NEAR(both.of(one(5, 2)), 7 + 2 * 2, 1e-9);
    MessageCost cost;
    cost.add({{raced(10), 10}, {raced(20), 20}});
    EXPECT_FALSE(cost.is_known());
    cost.add({{raced(10), 10}, {one(10, 4), 18}});
    EXPECT_DOUBLE_EQ(cost.each_s(), 2);
}

/// A recipe may send none, where it leaves all to the library.
TEST(Expectations, AreNumbersWhereNoMessagesAreSent) {
    const Expectation expected({{one(10, 0), 12}});
    EXPECT_DOUBLE_EQ(expected.of(one(5, 0)), 7);
    EXPECT_DOUBLE_EQ(expected.of(one(5, 8)), 7);
}

/// A plan's cost is as good as what calls have shown.
TEST(AMessageCost, IsKnownFromOthers) {
    EXPECT_FALSE(MessageCost().is_known());
    const MessageCost known(0.25, 32);
    EXPECT_TRUE(known.is_known());
    EXPECT_EQ(known.each_s(), 0.25);
    EXPECT_EQ(known.most_messages(), 32);
    EXPECT_NEAR(Expectation({{one(10, 16), 16}}, known).of(one(5, 99)), 7 + 32 * 0.25, 1e-9);
}

TEST(CallsOfOtherKinds, TellNothingOfMessagesIfAllSentAsManyOrFewer) {
    const MessageCost same = cost_of({{{one(1, 16), 500}, {one(2, 16), 600}}, {{one(1, 1), 50}}});
    EXPECT_FALSE(same.is_known());
    EXPECT_EQ(same.each_s(), 0);
    EXPECT_DOUBLE_EQ(Expectation({{one(10, 16), 42}}, same).of(one(5, 1)), 7);
    // Two messages took no longer than one: sixteen may.
    const MessageCost few = cost_of({{{one(1, 1), 5}, {one(1, 2), 5}}});
    EXPECT_TRUE(few.is_known());
    EXPECT_DOUBLE_EQ(Expectation({{one(10, 16), 42}}, few).of(one(5, 1)), 7);
    EXPECT_DOUBLE_EQ(Expectation({{one(10, 2), 14}}, few).of(one(5, 1)), 9);
}

}  // namespace
}  // namespace isochrone::tests
