// SPDX-License-Identifier: BSD-3-Clause
#include "select/only.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "select/choose.hpp"

namespace isochrone::tests {
namespace {

using namespace core;

const std::string shape = "4 ranks in one machine; node 2x2";

place::Layout layout() {
    return {4, {"machine", "node"}, {{0, 0, 0, 0}, {0, 0, 1, 1}}, {plogp::Parameters{}, plogp::Parameters{}}};
}

select::Rule rule(const std::string& collective, std::int64_t min_bytes, std::int64_t max_bytes,
                  const std::string& recipe) {
    return {{compose::parse_recipe(recipe), 2.0}, collective, shape, min_bytes, max_bytes};
}

std::string error_of(std::string_view text) {
    try {
        static_cast<void>(select::parse_kept(text));
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

TEST(WhatIsToBeKept, IsReadFromNamesAndSizes) {
    const auto kept = select::parse_kept(" bcast:1K-2MiB,allreduce barrier:-9 ,, reduce:8-,all:7");
    ASSERT_EQ(kept.size(), 5U);
    EXPECT_EQ(kept[0].collective, "bcast");
    EXPECT_EQ(kept[0].min_bytes, 1024);
    EXPECT_EQ(kept[0].max_bytes, 2 << 20);
    EXPECT_EQ(kept[1].collective, "allreduce");
    EXPECT_EQ(kept[1].min_bytes, 0);
    EXPECT_GT(kept[1].max_bytes, std::int64_t{1} << 60);
    EXPECT_EQ(kept[2].max_bytes, 9);
    EXPECT_EQ(kept[3].min_bytes, 8);
    EXPECT_EQ(kept[4].collective, "");
    EXPECT_EQ(kept[4].min_bytes, 7);
    EXPECT_EQ(kept[4].max_bytes, 7);
}

TEST(WhatIsToBeKept, IsRefusedInOneLineWhereItCannotBeRead) {
    EXPECT_EQ(error_of(" ,"), "no collective is named");
    EXPECT_EQ(error_of("broadcast").find("'broadcast' is no collective: write all, bcast, "), 0U);
    for (const char* text :
         {"bcast:", "bcast:1-2-3", "bcast:x", "bcast:1T", "bcast:9-8", "bcast:99999999999G", "bcast:1:2",
          "bcast:99999999999999999999", ":5", "bcast:5 K"}) {
        const auto error = error_of(text);
        EXPECT_NE(error, "") << text;
        EXPECT_EQ(error.find('\n'), std::string::npos);
    }
}

TEST(APlanOfWhichSomeIsKept, HasTheSameRulesThereAndIsNativeElsewhere) {
    std::mt19937 random(7);
    const auto any = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % (most + 1)); };
    for (int round = 0; round < 300; ++round) {
        select::Plan plan;
        plan.rules = {rule("allreduce", 3, 11, "ring"), rule("allreduce", 12, 12, "binomial"),
                      rule("allreduce", 15, 20, "native"), rule("bcast", 0, 20, "flat")};
        plan.rules[2].surveyed = select::Measured{compose::parse_recipe("ring"), 2, 0};
        std::vector<select::Kept> kept;
        for (auto i = 1 + any(3); i > 0; --i) {
            const auto low = any(20);
            kept.push_back({any(2) == 0 ? "" : "allreduce", low, low + any(8)});
        }
        auto less = plan;
        select::keep_only(less, kept);
        for (const std::string collective : {"allreduce", "bcast"}) {
            for (std::int64_t bytes = 0; bytes <= 22; ++bytes) {
                const bool stays = std::any_of(kept.begin(), kept.end(), [&](const auto& one) {
                    return (one.collective.empty() || one.collective == collective) &&
                           one.min_bytes <= bytes && bytes <= one.max_bytes;
                });
                const auto* before = select::find_rule(select::rules_for(plan, collective, shape), bytes);
                const auto* after = select::find_rule(select::rules_for(less, collective, shape), bytes);
                ASSERT_EQ(before == nullptr, after == nullptr);
                if (before == nullptr) continue;
                const bool had_one = before->recipe.kind != compose::Recipe::Kind::native || before->surveyed;
                EXPECT_EQ(after->surveyed.has_value(), stays && before->surveyed);
                EXPECT_EQ(after->recipe, stays ? before->recipe : compose::Recipe{});
                EXPECT_EQ(after->left_out == select::LeftOut::by_user, had_one && !stays);
                // The library's own saves nothing.
                EXPECT_EQ(after->speedup, had_one && !stays ? 0 : before->speedup);
            }
        }
    }
}

TEST(APlanOfWhichSomeIsKept, SaysWhatIsLeftOut) {
    select::Plan plan;
    plan.rules = {rule("allreduce", 0, 100, "ring")};
    select::keep_only(plan, select::parse_kept("bcast"));
    const auto choice = select::choose(plan, collectives::named("allreduce"), layout(), 0, 8);
    EXPECT_EQ(choice.recipe, compose::Recipe{});
    EXPECT_EQ(choice.reason, "ISOCHRONE_ONLY leaves it out for " + shape);
}

TEST(AReproduciblePlan, HasOneRecipeForAllReductionsAndItsOwnForTheRest) {
    select::Plan plan;
    plan.rules = {rule("allreduce", 0, 100, "ring"), rule("barrier", 0, 100, "dissemination"),
                  rule("reduce", 0, 100, "native")};
    plan.reproducible = true;
    for (const std::int64_t bytes : {1, 100, 101}) {
        for (const std::string name : {"reduce", "allreduce"}) {
            const auto choice = select::choose(plan, collectives::named(name), layout(), 3, bytes);
            EXPECT_EQ(compose::to_text(choice.recipe), "binomial") << name;
        }
    }
    EXPECT_EQ(compose::to_text(select::choose(plan, collectives::named("barrier"), layout(), 0, 0).recipe),
              "dissemination");
}

}  // namespace
}  // namespace isochrone::tests
