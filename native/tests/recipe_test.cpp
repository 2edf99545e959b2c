// SPDX-License-Identifier: BSD-3-Clause
#include "compose/recipe.hpp"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "algorithms/algorithm.hpp"
#include "compose/compose.hpp"
#include "support/random_layout.hpp"

namespace isochrone::tests {
namespace {

using namespace core;
using compose::parse_recipe;
using compose::Recipe;

std::string error_of(const std::string& text) {
    try {
        static_cast<void>(parse_recipe(text));
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

std::string resolving_error_of(const std::string& text, std::string_view collective = "bcast") {
    std::mt19937_64 random(1);
    auto layout = random_layout(6, 3, random);
    layout.group_of[1] = {0, 0, 0, 1, 1, 1};
    try {
        static_cast<void>(compose::resolve(collectives::named(collective), parse_recipe(text), layout));
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

TEST(ARecipe, ReadsAsItIsWritten) {
    for (const std::string text :
         {"native", "binomial", "knomial/4", "chain@65536", "knomial/3@8", "ordered(binomial)",
          "ordered(knomial/7)@1024", "depth_first(knomial/4)", "breadth_first(binomial)@512",
          "longest_first(binary)", "hierarchical(machine=depth_first(knomial/4),node=chain)@64",
          "hierarchical(machine=flat)", "hierarchical(machine=binomial,node=chain,socket=native)",
          "hierarchical(group-1=knomial/4,l3=scatter_allgather)@1099511627776",
          "hierarchical(machine=ring,node=knomial/4+flat,socket=flat+knomial/8)@64"}) {
        EXPECT_EQ(compose::to_text(parse_recipe(text)), text);
    }
}

TEST(ARecipe, HasTheMeaningOfItsText) {
    const Recipe recipe = parse_recipe("hierarchical(machine=knomial/4,node=native)@4096");
    EXPECT_EQ(recipe.kind, Recipe::Kind::hierarchical);
    EXPECT_EQ(recipe.segment_bytes, 4096);
    ASSERT_EQ(recipe.parts.size(), 2U);
    EXPECT_EQ(recipe.parts[0], (compose::Part{"machine", compose::Order::ranks, {"knomial", 4}, {}}));
    EXPECT_EQ(recipe.parts[1], (compose::Part{"node", compose::Order::ranks, {"native", 0}, {}}));
    EXPECT_EQ(parse_recipe("native"), Recipe{});
    EXPECT_EQ(parse_recipe("ordered(chain)").order(), compose::Order::tree);
    EXPECT_EQ(parse_recipe("depth_first(binomial)").order(), compose::Order::depth_first);
    EXPECT_EQ(parse_recipe("hierarchical(a=breadth_first(binomial),b=flat)").order(),
              compose::Order::breadth_first);
    EXPECT_EQ(parse_recipe("chain").order(), compose::Order::ranks);
    EXPECT_EQ(parse_recipe("chain").kind, Recipe::Kind::flat);
}

TEST(AnErrorInARecipe, IsSaidWithItsCharacter) {
    const std::pair<std::string, std::string> cases[] = {
        {"", "character 1: expected a name"},
        {" flat", "character 1: expected a name"},
        {"flat ", "character 5: expected the end"},
        {"native@4", "character 7: expected the end"},
        {"flat@", "character 6: expected a number"},
        {"flat@0", "character 6: expected a number"},
        {"flat@-1", "character 6: expected a number"},
        {"flat@99999999999999999999", "character 6: expected a number"},
        {"knomial/", "character 9: expected a number"},
        {"knomial/2000000", "character 9: expected a number"},
        {"ordered", "character 8: expected '('"},
        {"ordered(flat", "character 13: expected ')'"},
        {"hierarchical()", "character 14: expected a name"},
        {"hierarchical(node)", "character 18: expected '='"},
        {"hierarchical(node=flat,)", "character 24: expected a name"},
        {"hierarchical(a=flat,b=ordered(flat))", "character 30: expected ')'"},
        {"hierarchical(node=flat)x", "character 24: expected the end"},
        {"Flat", "character 1: expected a name"},
    };
    for (const auto& [text, expected] : cases) {
        EXPECT_NE(error_of(text).find(expected), std::string::npos) << text << ": " << error_of(text);
    }
}

TEST(ARecipeOfTooManyLevels, IsRefused) {
    std::string text = "hierarchical(a=flat";
    for (int i = 0; i < 100; ++i) text += ",a=flat";
    EXPECT_NE(error_of(text + ")").find("too many levels"), std::string::npos);
}

TEST(RandomDamageToARecipe, NeverDoesMoreThanBeRefused) {
    std::mt19937_64 random(9);
    static constexpr std::string_view bytes = "()=,@/09az_-\xff\n";
    const std::string good = "hierarchical(machine=knomial/4,node=flat,l3=native)@65536";
    for (int trial = 0; trial < 10000; ++trial) {
        std::string text = good;
        for (int edits = 1 + static_cast<int>(random() % 4); edits > 0; --edits) {
            const auto at = random() % text.size();
            if (random() % 2 == 0)
                text[at] = bytes[random() % bytes.size()];
            else
                text.erase(at, random() % 8);
        }
        if (error_of(text).empty()) {
            EXPECT_EQ(parse_recipe(compose::to_text(parse_recipe(text))), parse_recipe(text)) << text;
        }
    }
}

TEST(EveryAlgorithmOfTheTable, CanBeNamedInARecipe) {
    for (const auto& algorithm : algorithms::bcast_table()) {
        const std::string name(algorithm.name);
        EXPECT_EQ(resolving_error_of(name), "");
        EXPECT_EQ(resolving_error_of("hierarchical(machine=" + name + ",level-2=" + name + ")"), "");
    }
}

TEST(ARecipe, TakesTheSegmentThatItsAlgorithmAsksForUnlessItNamesOne) {
    std::mt19937_64 random(1);
    const auto layout = random_layout(6, 1, random);
    const auto segment_bytes = [&](const std::string& text) {
        return compose::resolve(collectives::named("bcast"), parse_recipe(text), layout).recipe.segment_bytes;
    };
    EXPECT_EQ(segment_bytes("chain"), 0);
    EXPECT_GT(segment_bytes("pipeline"), 0);
    EXPECT_EQ(segment_bytes("pipeline@77"), 77);
}

TEST(ARecipeThatDoesNotFit, IsRefusedWithTheReason) {
    EXPECT_EQ(resolving_error_of("teleport"), "there is no broadcast 'teleport'");
    EXPECT_EQ(resolving_error_of("flat/3"), "broadcast 'flat' takes no parameter 3");
    EXPECT_EQ(resolving_error_of("knomial/1"), "broadcast 'knomial' takes no parameter 1");
    EXPECT_EQ(resolving_error_of("hierarchical(rack=flat)"),
              "there is no level 'rack' (known: machine, level-1, level-2)");
    EXPECT_EQ(resolving_error_of("hierarchical(level-1=flat)"), "level 'level-1' does not hold all ranks");
    EXPECT_EQ(resolving_error_of("hierarchical(machine=flat,machine=flat)"),
              "level 'machine' is not inside the one named before it");
    EXPECT_EQ(resolving_error_of("hierarchical(machine=native,level-1=flat)"),
              "'native' can only stand at the innermost level of a recipe");
    EXPECT_EQ(resolving_error_of("depth_first(scatter_allgather)"),
              "a broadcast 'scatter_allgather' has no tree to lay over the network");
    EXPECT_EQ(resolving_error_of("hierarchical(machine=chain,level-1=recursive_doubling)", "scan"),
              "there is no scan 'recursive_doubling' on the way down");
    EXPECT_EQ(resolving_error_of("hierarchical(machine=chain,level-1=binomial+chain)", "exscan"),
              "there is no exclusive scan 'binomial' on the way up");
    for (const std::string order : {"depth_first", "breadth_first", "longest_first", "ordered"}) {
        EXPECT_EQ(resolving_error_of("hierarchical(machine=" + order + "(native))"),
                  "the library's own has an order of its own");
    }
    EXPECT_EQ(resolving_error_of("ordered(native)"),
              "'native' can only stand at the innermost level of a recipe");
}

}  // namespace
}  // namespace isochrone::tests
