// SPDX-License-Identifier: BSD-3-Clause
//
// The search for a recipe in a program's calls, with times that are made up.
#include "select/search.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "support/rules.hpp"

namespace isochrone::tests {
namespace {

using namespace core;
using select::Proposal;
using select::Search;
using select::Shown;

constexpr std::int64_t many_calls = 1 << 20;

struct Clocked {
    double now_s = 0;
    double step_s = 0;
    Search::Clock clock() {
        return [this] { return now_s += step_s; };
    }
};

Search::Calls calls(const char* name, std::int64_t bytes) {
    return {&collectives::named(name), 0, bytes, false};
}

TEST(ASearch, WaitsUntilCallsHaveTakenEnoughTimeForItsPrices) {
    const auto layout = nodes(4, 4);
    const select::Plan plan;
    Clocked time{.now_s = 0, .step_s = 1e-3};
    Search search(plan, layout, calls("bcast", 1 << 20), time.clock());
    constexpr double native_s = 1e-2;
    std::int64_t at = 8;
    Proposal found = search.propose(native_s, at, {});
    int waits = 0;
    for (; found.what == Proposal::What::wait; ++waits) {
        EXPECT_LE(time.now_s, 0.0075 * native_s * static_cast<double>(at) + 3e-3);
        ASSERT_GT(found.calls, at);
        at = found.calls;
        found = search.propose(native_s, at, {});
    }
    EXPECT_GT(waits, 0);
    EXPECT_EQ(found.what, Proposal::What::recipe);
}

TEST(ASearch, ProposesWhatIsFastAfterWhatThoseBeforeTookAndNoneThatIsHopeless) {
    const auto layout = nodes(4, 4);
    const select::Plan plan;
    Clocked time;
    Search search(plan, layout, calls("bcast", 1 << 20), time.clock());
    const auto first = search.propose(1, many_calls, {});
    ASSERT_EQ(first.what, Proposal::What::recipe);
    ASSERT_GT(first.priced.segments, 1);
    EXPECT_DOUBLE_EQ(first.expected_s, first.priced.seconds);
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
}

/// What runs was found by the model too, which errs alike in both.
TEST(ASearch, ExpectsOfTheNextAsManyTimesWhatRunsAsTheModelHasIt) {
    const auto layout = nodes(4, 4);
    const select::Plan plan;
    Clocked time;
    Search search(plan, layout, calls("reduce", 1 << 16), time.clock());
    const auto first = search.propose(1, many_calls, {});
    ASSERT_EQ(first.what, Proposal::What::recipe);
    search.tries(first.priced);
    const double runs_s = 0.8 * first.priced.seconds;
    search.took(runs_s, true);
    const auto next = search.propose(runs_s, many_calls, {});
    ASSERT_EQ(next.what, Proposal::What::recipe);
    EXPECT_DOUBLE_EQ(next.expected_s, 0.8 * next.priced.seconds);
}

/// Calls of other kinds on the same communicator tell which comes first. They do not tell how long it takes.
TEST(ASearch, BeginsWithFewerSegmentsWhereThoseOfOtherKindsTookLong) {
    const select::Plan plan;
    Clocked time;
    for (const char* name : {"bcast", "reduce", "allreduce"}) {
        for (const auto& layout : {nodes(2, 2), nodes(3, 4), nodes(7, 2)}) {
            Search alone(plan, layout, calls(name, 1 << 20), time.clock());
            const auto first = alone.propose(1, many_calls, {});
            ASSERT_EQ(first.what, Proposal::What::recipe);
            if (first.priced.segments == 1) continue;
            for (const double share : {0.0, 1.0}) {
                const double each_s = share * first.priced.seconds;
                const Shown elsewhere({{{{}, 1, 1}, 5 + each_s}, {{{}, 1, 256}, 5 + 256 * each_s}});
                Search search(plan, layout, calls(name, 1 << 20), time.clock());
                const auto found = search.propose(first.priced.seconds, many_calls, elsewhere);
                ASSERT_EQ(found.what, Proposal::What::recipe) << name;
                EXPECT_DOUBLE_EQ(found.expected_s, found.priced.seconds) << name;
                if (share == 0) {
                    EXPECT_EQ(found.priced.recipe, first.priced.recipe) << name;
                } else {
                    EXPECT_LT(found.priced.segments, first.priced.segments) << name;
                }
            }
        }
    }
}

}  // namespace
}  // namespace isochrone::tests
