// SPDX-License-Identifier: BSD-3-Clause
//
// The timeline tells of the same simulation that gives a price, step by step.
#include "simulate/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "simulate/predict.hpp"
#include "support/random_layout.hpp"
#include "support/ways.hpp"

namespace isochrone::tests {
namespace {

using namespace core;
using schedule::OpKind;
using simulate::Step;

constexpr std::int64_t many = 1'000'000;

std::vector<Step> steps_of(const char* collective, const std::string& recipe, const place::Layout& layout,
                           std::int64_t size_bytes, std::int64_t most = many) {
    simulate::Timeline timeline{.most = most};
    static_cast<void>(simulate::predict(collectives::named(collective), compose::parse_recipe(recipe), layout,
                                        0, size_bytes, {.timeline = &timeline}));
    return timeline.steps;
}

/// Three ranks with latency 10, overheads 1 and 2, gap 4, in seconds.
place::Layout three_ranks() {
    return {3,
            {"node"},
            {{0, 0, 0}},
            {{.latency_s = 10,
              .send_overhead_s = {{{0, 1}}},
              .receive_overhead_s = {{{0, 2}}},
              .gap_s = {{{0, 4}}}}}};
}

TEST(TheTimelineOfAFlatBroadcast, HasBothMessagesOneGapApart) {
    const auto steps = steps_of("bcast", "flat", three_ranks(), 100);
    ASSERT_EQ(steps.size(), 4U);
    for (const int receiver : {1, 2}) {
        const auto found = std::find_if(steps.begin(), steps.end(), [&](const Step& step) {
            return step.kind == OpKind::recv && step.rank == receiver;
        });
        ASSERT_NE(found, steps.end());
        const Step& send = steps[static_cast<std::size_t>(found->sent_by)];
        const int before = receiver - 1;
        EXPECT_EQ(send.peer, receiver);
        EXPECT_EQ(send.size_bytes, 100);
        EXPECT_EQ(send.level, 0);
        EXPECT_DOUBLE_EQ(send.begin_s, before);
        EXPECT_DOUBLE_EQ(send.free_s, before + 1);
        EXPECT_DOUBLE_EQ(send.leave_s, 4 * before);
        EXPECT_DOUBLE_EQ(send.end_s, 4 * before + 4);
        EXPECT_DOUBLE_EQ(found->begin_s, 4 * before + 14);
        EXPECT_DOUBLE_EQ(found->end_s, 4 * before + 16);
    }
}

TEST(TheTimelineOfAChain, MakesEachSendWaitForItsReceive) {
    const auto steps = steps_of("bcast", "chain", three_ranks(), 100);
    const auto second = std::find_if(steps.begin(), steps.end(), [](const Step& step) {
        return step.kind == OpKind::send && step.rank == 1;
    });
    ASSERT_NE(second, steps.end());
    ASSERT_EQ(second->after.size(), 1U);
    EXPECT_EQ(steps[static_cast<std::size_t>(second->after[0])].kind, OpKind::recv);
    EXPECT_EQ(second->behind, -1);
}

TEST(TheTimelineOfAPipeline, HasTheSegmentsOfAMessageOneBehindTheOther) {
    for (const Step& step : steps_of("bcast", "pipeline@100", three_ranks(), 1000)) {
        if (step.segment == 0) {
            EXPECT_EQ(step.behind, -1);
        } else {
            EXPECT_GE(step.behind, 0);
        }
    }
}

TEST(TheTimelineOfTheLibrarysOwnInside, HasItOnAllRanksOfAGroupAtOnce) {
    auto layout = three_ranks();
    layout.levels.emplace_back("socket");
    layout.group_of.push_back({0, 1, 1});
    layout.links.push_back(layout.links[0]);
    const auto steps = steps_of("bcast", "hierarchical(node=flat,socket=native)", layout, 100);
    std::map<int, Step> of_rank;
    for (const Step& step : steps) {
        if (step.kind == OpKind::library_bcast) of_rank[step.rank] = step;
    }
    ASSERT_TRUE(of_rank.contains(1) && of_rank.contains(2));
    EXPECT_EQ(of_rank[1].level, 1);
    EXPECT_DOUBLE_EQ(of_rank[1].begin_s, of_rank[2].begin_s);
    EXPECT_DOUBLE_EQ(of_rank[1].end_s, of_rank[2].end_s);
}

TEST(ATimeline, IsRefusedWhereItWouldHaveMoreStepsThanAsked) {
    EXPECT_EQ(steps_of("bcast", "flat", three_ranks(), 100, 4).size(), 4U);
    EXPECT_THROW(steps_of("bcast", "flat", three_ranks(), 100, 3), std::invalid_argument);
    EXPECT_THROW(steps_of("bcast", "pipeline@1", three_ranks(), 100, 100), std::invalid_argument);
}

TEST(EveryTimeline, TellsThePriceToTheLastBitAndNamesEarlierStepsOnly) {
    std::mt19937_64 random(3);
    for (const auto& collective : collectives::all()) {
        for (const auto& row : collective.across()) {
            if (!collective.has_lengths_for(row)) continue;
            const int size = 1 + static_cast<int>(random() % 20);
            const auto layout =
                collective.in_order ? random_layout_of_runs(size, 2, random) : random_layout(size, 2, random);
            const auto recipe = compose::parse_recipe(row.name);
            const std::int64_t size_bytes = collective.has_data ? 100'000 : 0;
            simulate::Timeline timeline{.most = many};
            const auto with =
                simulate::predict(collective, recipe, layout, 0, size_bytes, {.timeline = &timeline});
            const auto without = simulate::predict(collective, recipe, layout, 0, size_bytes);
            EXPECT_EQ(with.finish_s, without.finish_s) << collective.name << " by " << row.name;
            std::vector<double> ends_s(static_cast<std::size_t>(size), 0);
            std::int64_t messages = 0;
            for (std::size_t i = 0; i < timeline.steps.size(); ++i) {
                const Step& step = timeline.steps[i];
                ends_s[static_cast<std::size_t>(step.rank)] =
                    std::max(ends_s[static_cast<std::size_t>(step.rank)], step.end_s);
                messages += step.kind == OpKind::send;
                for (const int before : step.after) {
                    ASSERT_LT(before, static_cast<int>(i));
                    EXPECT_LE(timeline.steps[static_cast<std::size_t>(before)].end_s, step.begin_s);
                }
                EXPECT_LT(std::max(step.behind, step.sent_by), static_cast<int>(i));
            }
            EXPECT_EQ(ends_s, without.finish_s) << collective.name << " by " << row.name;
            EXPECT_EQ(messages, without.messages);
        }
    }
}

}  // namespace
}  // namespace isochrone::tests
