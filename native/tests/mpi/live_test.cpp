// SPDX-License-Identifier: BSD-3-Clause
//
// Trials of one communicator's calls, which all ranks count and decide alike. Their times are made up:
// nothing runs but what ranks tell each other.
#include "executor/live.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "executor/communicator.hpp"
#include "simulate/predict.hpp"
#include "support/rules.hpp"
#include "world.hpp"

namespace isochrone::tests {
namespace {

using namespace core;
using mpi::executor::Communicator;
using mpi::executor::Dispatcher;
using mpi::executor::Live;

constexpr std::int64_t bytes = 1 << 20;

struct Told {
    Live::Event event;
    const collectives::Collective* collective;
    std::string recipe;  ///< on trial, or kept
    double messages = 0;
    double model_s = 0;
    std::string reason;
};

/// Of all ranks; 0 for the library's own.
double messages(const Dispatcher::Decision& decision) {
    if (decision.resolved == nullptr) return 0;
    const auto layout = nodes(world_size(), 1);
    return static_cast<double>(
        simulate::messages(simulate::composed(*decision.resolved, layout, 0, bytes), layout));
}

/// That a tree sends which is not cut.
double fewest() { return world_size() - 1; }

/// A tree takes a tenth of what the library's own takes, and half of that more for as many messages more.
double recipe_s(double messages) { return 0.1 + 0.5 * (messages / fewest() - 1); }

/// What is told while the collectives are called so often, one after the other. `native`: of each call
/// whether the library's own ran.
std::vector<Told> told(const std::vector<std::string>& names, int calls, double native_s = 1,
                       const select::Plan& plan = {}, std::vector<bool>* native = nullptr) {
    const auto layout = nodes(world_size(), 1);
    Dispatcher dispatcher(layout, plan, [&] {
        return Dispatcher::Opened{std::make_unique<Communicator>(MPI_COMM_WORLD, layout), ""};
    });
    std::vector<Told> result;
    std::map<const compose::Resolved*, double> known;
    const auto messages_of = [&](const Dispatcher::Decision& decision) {
        const auto [entry, is_new] = known.try_emplace(decision.resolved);
        if (is_new) entry->second = messages(decision);
        return entry->second;
    };
    Live live(dispatcher, [&](const Live::Kind& kind, Live::Event event) {
        const auto& decision = event == Live::Event::begun ? *kind.challenger : *kind.incumbent;
        const auto recipe =
            decision.resolved == nullptr ? "native" : compose::to_text(decision.resolved->recipe);
        result.push_back({event, kind.question.collective, recipe, messages_of(decision), decision.model_s,
                          decision.reason});
    });
    for (const auto& name : names) {
        const Dispatcher::Question question{&collectives::named(name), 0, false};
        for (int call = 0; call < calls; ++call) {
            const auto turn = live.next(question, bytes, dispatcher.decide(question, bytes));
            const bool is_native = turn.decision->resolved == nullptr;
            if (native != nullptr) native->push_back(is_native);
            const double took_s = is_native ? native_s : recipe_s(messages_of(*turn.decision));
            if (turn.kind != nullptr) live.ended(*turn.kind, took_s, MPI_COMM_WORLD, world_rank());
        }
    }
    live.end_talks();
    return result;
}

std::vector<Told> begun(const std::vector<Told>& all, const char* name) {
    std::vector<Told> result;
    for (const auto& one : all) {
        if (one.event == Live::Event::begun && one.collective->name == name) result.push_back(one);
    }
    return result;
}

constexpr int enough = 20000;
constexpr int fewest_ranks = 4;  // of fewer, the model finds no segments worth it

TEST(Trials, KeepWhatIsFasterAndExpectOfTheNextWhatThoseBeforeTook) {
    if (world_size() < fewest_ranks) return;
    const auto all = told({"bcast"}, enough);
    const auto tried = begun(all, "bcast");
    ASSERT_GE(tried.size(), 2U);
    EXPECT_LE(tried.size(), select::most_tried);
    EXPECT_GT(tried.front().messages, fewest());
    for (std::size_t next = 1; next < tried.size(); ++next)
        EXPECT_LT(tried[next].messages, tried.front().messages) << tried[next].recipe;
    double after_ms = 0;
    const auto at = tried[1].reason.find("after those before ");
    ASSERT_NE(at, std::string::npos) << tried[1].reason;
    ASSERT_EQ(std::sscanf(tried[1].reason.c_str() + at, "after those before %lf", &after_ms), 1);
    const double each_ms =
        1e3 * (recipe_s(tried.front().messages) - tried.front().model_s) / tried.front().messages;
    EXPECT_NEAR(after_ms, 1e3 * tried[1].model_s + each_ms * tried[1].messages, 0.05 * after_ms);
    bool is_kept = false;
    for (const auto& one : all) {
        if (one.event != Live::Event::recipe_is_kept) continue;
        is_kept = true;
        EXPECT_EQ(one.messages, fewest()) << one.recipe;
        EXPECT_GT(one.model_s, 0);
    }
    EXPECT_TRUE(is_kept);
}

TEST(Trials, OfOneKindShowWhichRecipeComesFirstInAnother) {
    if (world_size() < fewest_ranks) return;
    const auto alone = begun(told({"reduce"}, enough), "reduce");
    const auto after = begun(told({"bcast", "reduce"}, enough), "reduce");
    ASSERT_FALSE(alone.empty());
    ASSERT_FALSE(after.empty());
    EXPECT_LT(after.front().messages, alone.front().messages)
        << after.front().recipe << " in place of " << alone.front().recipe;
}

select::Plan costing(double each_s) {
    select::Plan plan;
    plan.messages = {each_s, 1e4};
    return plan;
}

/// What races have shown says which recipe comes first, until calls show what is so here.
TEST(Trials, BeginWithWhatThePlanSaysOfMessages) {
    if (world_size() < fewest_ranks) return;
    const auto free = begun(told({"bcast"}, enough, 1, costing(0)), "bcast");
    const auto dear = begun(told({"bcast"}, enough, 1, costing(0.5)), "bcast");
    ASSERT_FALSE(free.empty());
    ASSERT_FALSE(dear.empty());
    EXPECT_GT(free.front().messages, fewest());
    EXPECT_EQ(dear.front().messages, fewest()) << dear.front().recipe;
    const auto after = begun(told({"bcast", "reduce"}, enough, 1, costing(0)), "reduce");
    ASSERT_FALSE(after.empty());
    EXPECT_EQ(after.front().messages, fewest()) << after.front().recipe;
}

/// Of broadcasts, whose recipe ten times as fast as the library's own takes 0.1 s here.
select::Plan measured(double seconds, std::int64_t at_bytes) {
    auto one = rule(shape(world_size(), 1), "binomial", 1, 1 << 30, 10);
    one.seconds = seconds;
    one.bytes = at_bytes;
    return plan_of({one});
}

TEST(Trials, LookAtARuleLaterWhereItsRecipeTakesWhatWasMeasured) {
    if (world_size() == 1) return;
    // 400 times the nine calls that a look loses.
    constexpr std::ptrdiff_t affordable = 3600;
    const auto first_look = [](const select::Plan& plan) {
        std::vector<bool> native;
        for (const auto& one : told({"bcast"}, 2 * affordable, 1, plan, &native))
            EXPECT_NE(one.event, Live::Event::native_is_kept);
        return std::find(native.begin(), native.end(), true) - native.begin();
    };
    EXPECT_GE(first_look(measured(0.1, bytes)), affordable);
    EXPECT_LT(first_look(measured(0.1, bytes)), affordable + 100);
    // As long as half the bytes took, or as all of them in proportion.
    EXPECT_GE(first_look(measured(0.1, bytes / 2)), affordable);
    EXPECT_GE(first_look(measured(0.05, bytes / 2)), affordable);
    EXPECT_GE(first_look(measured(0.2, bytes * 2)), affordable);
    // Slower or faster than was measured, or nobody knows.
    EXPECT_LE(first_look(measured(0.01, bytes)), 50);
    EXPECT_LE(first_look(measured(1, bytes)), 130);
    EXPECT_LE(first_look(measured(0.2, bytes / 2)), 130);
    EXPECT_LE(first_look(measured(0, bytes)), 130);
}

/// No recipe's bytes go over the links in so short a time.
TEST(Trials, SayWhereTheModelFindsNothingThatIsWorthOne) {
    if (world_size() == 1) return;
    const auto all = told({"bcast"}, 10 * enough, 4e-4);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all.front().event, Live::Event::nothing_is_left);
    EXPECT_EQ(all.front().recipe, "native");
}

}  // namespace
}  // namespace isochrone::tests
