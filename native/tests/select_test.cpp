// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "select/choose.hpp"
#include "select/fit.hpp"
#include "select/plan.hpp"

namespace isochrone::tests {
namespace {

using namespace core;

const std::string two_nodes = "4 ranks in one machine; node 2x2; root in 2";

std::string rule(const std::string& shape, const std::string& min_bytes, const std::string& max_bytes,
                 const std::string& recipe, const std::string& collective = "bcast") {
    return R"({"collective":")" + collective + R"(","shape":")" + shape + R"(","min_bytes":)" + min_bytes +
           R"(,"max_bytes":)" + max_bytes + R"(,"recipe":")" + recipe +
           R"(","evidence":{"native_s":1e-5,"recipe_s":7e-6,"speedup":1.43,"speedup_ci":[1.4,1.5],)"
           R"("repetitions":20,"predicted_s":null}})";
}

std::string plan_text(const std::vector<std::string>& rules, const std::string& levels = "") {
    std::string list;
    for (const auto& text : rules) list += (list.empty() ? "" : ",") + text;
    return R"({"isochrone":"plan","schema_version":1,)"
           R"("topology":{"fingerprint":"f00d","file":"topology.json")" +
           levels + R"(},"mpi":{"library":"Open MPI v4.1.4","abi":"libmpi.so.40"},"rules":[)" + list +
           R"(],"provenance":{}})";
}

std::string error_of(const std::string& text) {
    try {
        static_cast<void>(select::parse_plan(text));
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

place::Layout layout() {
    return {4, {"machine", "node"}, {{0, 0, 0, 0}, {0, 0, 1, 1}}, {plogp::Parameters{}, plogp::Parameters{}}};
}

TEST(APlan, SaysForWhichTopologyAndLibraryItIs) {
    const auto plan = select::parse_plan(plan_text({}));
    EXPECT_EQ(plan.topology_fingerprint, "f00d");
    EXPECT_EQ(plan.mpi_library, "Open MPI v4.1.4");
    EXPECT_EQ(plan.mpi_abi, "libmpi.so.40");
}

TEST(ARule, HoldsFromItsLeastToItsLargestSizeAndNoFurther) {
    const auto plan =
        select::parse_plan(plan_text({rule("b", "100", "199", "chain"), rule("a", "1", "9", "flat"),
                                      rule("b", "200", "200", "binary"), rule("c", "0", "5", "flat")}));
    const auto name = [&](std::string_view shape, std::int64_t size_bytes) -> std::string {
        const auto* found = select::find_rule(select::rules_for(plan, "bcast", shape), size_bytes);
        return found == nullptr ? "" : compose::to_text(found->recipe);
    };
    EXPECT_EQ(name("b", 99), "");
    EXPECT_EQ(name("b", 100), "chain");
    EXPECT_EQ(name("b", 199), "chain");
    EXPECT_EQ(name("b", 200), "binary");
    EXPECT_EQ(name("b", 201), "");
    EXPECT_EQ(name("a", 0), "");
    EXPECT_EQ(name("c", 0), "flat");
    EXPECT_EQ(name("d", 0), "");
    EXPECT_TRUE(select::rules_for(plan, "allreduce", "b").empty());
    EXPECT_EQ(select::rules_for(plan, "bcast", "b").size(), 2U);
}

TEST(ARule, WhoseOrderIsNullIsForAnyOrder) {
    std::string text = rule("a", "1", "9", "flat");
    text.insert(1, R"("order":null,)");
    EXPECT_EQ(select::parse_plan(plan_text({text})).rules.at(0).order, "");
}

TEST(APlan, SaysWhatEachMessageTakesAndWithHowManyThatWasSeen) {
    const auto plan_with = [](const std::string& messages) {
        std::string text = plan_text({});
        return text.insert(1, R"("messages":)" + messages + ",");
    };
    EXPECT_FALSE(select::parse_plan(plan_text({})).messages.is_known());
    EXPECT_FALSE(select::parse_plan(plan_with("null")).messages.is_known());
    const auto found = select::parse_plan(plan_with(R"({"each_s":5e-5,"most":64})")).messages;
    EXPECT_TRUE(found.is_known());
    EXPECT_EQ(found.each_s(), 5e-5);
    EXPECT_EQ(found.most_messages(), 64);
    EXPECT_EQ(error_of(plan_with(R"({"each_s":-1,"most":64})")),
              "messages: each_s is not a number of at least 0");
    EXPECT_EQ(error_of(plan_with(R"({"each_s":1,"most":0})")).find("messages: most is not"), 0U);
    for (const auto* damaged : {"7", "{}", R"({"each_s":1})", R"({"most":1})", "[1,2]"})
        EXPECT_NE(error_of(plan_with(damaged)), "") << damaged;
}

TEST(ARule, SaysHowMuchOfItsPriceItTook) {
    const auto took = [](const std::string& predicted_s) {
        std::string text = rule("a", "1", "9", "flat");
        const std::string null = "null";
        text.replace(text.find(null), null.size(), predicted_s);
        return select::parse_plan(plan_text({text})).rules.at(0).took;
    };
    EXPECT_EQ(took("null"), 0);
    EXPECT_EQ(took("0"), 0);
    EXPECT_DOUBLE_EQ(took("1.4e-5"), 0.5);
}

TEST(ARule, SaysAtWhichSizeItWasMeasured) {
    const auto with = [](const std::string& measured_bytes) {
        std::string text = rule("a", "1", "9", "flat");
        const std::string key = "\"predicted_s\"";
        return plan_text({text.replace(text.find(key), 0, "\"measured_bytes\":" + measured_bytes + ",")});
    };
    const auto measured = select::parse_plan(with("8")).rules.at(0);
    EXPECT_EQ(measured.bytes, 8);
    EXPECT_DOUBLE_EQ(measured.seconds, 7e-6);
    EXPECT_FALSE(select::parse_plan(with("null")).rules.at(0).bytes);
    EXPECT_EQ(error_of(with("-1")).find("rules[0]: measured_bytes is not"), 0U);
}

TEST(TwoRulesForOneMessage, AreRefused) {
    const auto error = error_of(plan_text(
        {rule("a", "1", "10", "flat"), rule("b", "1", "10", "flat"), rule("a", "10", "20", "flat")}));
    EXPECT_NE(error.find("hold for 10 bytes"), std::string::npos) << error;
    EXPECT_NE(error_of(plan_text({rule("a", "5", "5", "flat"), rule("a", "5", "5", "flat")})), "");
}

TEST(ADamagedPlan, IsRefusedInOneLineThatSaysWhatAndWhere) {
    const auto good = plan_text({rule("a", "1", "10", "flat")});
    ASSERT_EQ(error_of(good), "");
    const auto replaced = [&](const std::string& from, const std::string& to) {
        std::string text = good;
        return error_of(text.replace(text.find(from), from.size(), to));
    };
    EXPECT_EQ(replaced("\"plan\"", "\"topology\""), "it is not a plan");
    EXPECT_EQ(replaced("\"schema_version\":1", "\"schema_version\":2"), "it is of another schema version");
    EXPECT_EQ(replaced("\"min_bytes\":1,", "\"min_bytes\":1e300,").find("rules[0]: min_bytes is not"), 0U);
    EXPECT_EQ(replaced("\"min_bytes\":1,", "\"min_bytes\":-1,").find("rules[0]: min_bytes is not"), 0U);
    EXPECT_EQ(replaced("\"min_bytes\":1,", "\"min_bytes\":1.5,").find("rules[0]: min_bytes is not"), 0U);
    EXPECT_EQ(replaced("\"min_bytes\":1,", "\"min_bytes\":18446744073709551617,")
                  .find("rules[0]: min_bytes is not"),
              0U);
    EXPECT_EQ(replaced("\"min_bytes\":1,", "\"min_bytes\":11,"), "rules[0]: max_bytes is below min_bytes");
    EXPECT_EQ(replaced("\"flat\"", "\"flat(\"").find("rules[0]: recipe 'flat(', character 5"), 0U);
    EXPECT_EQ(replaced("\"bcast\"", "\"brodcast\""), "rules[0]: there is no collective 'brodcast'");
    EXPECT_EQ(replaced("\"flat\"", "7").find("rules[0]: "), 0U);
    EXPECT_EQ(replaced("1.43", "-1"), "rules[0]: speedup is not a number of at least 0");
    EXPECT_EQ(replaced("\"a\"", "\"a\\nb\""), "rules[0]: shape is not a line of text");
    EXPECT_NE(replaced("\"rules\":[", "\"rules\":7,\"x\":["), "");
    EXPECT_NE(error_of(good.substr(0, good.size() / 2)), "");
    EXPECT_NE(error_of(""), "");
    EXPECT_NE(error_of("[]"), "");
    EXPECT_NE(error_of("null"), "");
    for (const auto& error : {error_of(good.substr(0, 70)), replaced("\"flat\"", "\"a\\nb\"")}) {
        EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    }
}

TEST(RandomDamageToAPlan, NeverDoesMoreThanBeRefused) {
    std::mt19937_64 random(8);
    const auto good = plan_text(
        {rule("a", "1", "10", "hierarchical(machine=flat,node=native)@64"), rule("b", "1", "10", "flat")});
    static constexpr std::string_view bytes = "{}[]\",:0123456789.eE+-ntf\\ \xff\n";
    for (int trial = 0; trial < 10000; ++trial) {
        std::string text = good;
        for (int edits = 1 + static_cast<int>(random() % 4); edits > 0; --edits) {
            const auto at = random() % text.size();
            if (random() % 2 == 0)
                text[at] = bytes[random() % bytes.size()];
            else
                text.erase(at, random() % 10);
        }
        try {
            static_cast<void>(select::parse_plan(text));
        } catch (const std::invalid_argument&) {
        }
    }
}

TEST(TheChoice, FollowsTheRuleAndSaysWhatItWasMeasuredToGain) {
    const auto plan = select::parse_plan(
        plan_text({rule(two_nodes, "1", "4096", "hierarchical(machine=flat,node=native)")}));
    const auto choice = select::choose(plan, collectives::named("bcast"), layout(), 3, 100);
    EXPECT_EQ(compose::to_text(choice.recipe), "hierarchical(machine=flat,node=native)");
    EXPECT_EQ(choice.reason, "measured 1.43x faster than native for " + two_nodes);
}

TEST(TheChoice, IsNativeWithAReasonWhereNoRuleHolds) {
    const auto plan = select::parse_plan(
        plan_text({rule(two_nodes, "1", "4096", "flat"), rule("another", "0", "0", "flat")}));
    const auto too_large = select::choose(plan, collectives::named("bcast"), layout(), 0, 4097);
    EXPECT_EQ(too_large.recipe, compose::Recipe{});
    EXPECT_EQ(too_large.reason, "4097 bytes were not measured for " + two_nodes);
    const auto other_shape =
        select::choose(plan, collectives::named("bcast"), layout().restricted_to({0, 1, 2}), 2, 100);
    EXPECT_EQ(other_shape.recipe, compose::Recipe{});
    EXPECT_EQ(other_shape.reason,
              "this shape was not measured: 3 ranks in one machine; node 1x2+1x1; root in 1");
}

TEST(TheChoice, SaysSoWhereNothingWasFasterThanNative) {
    const auto plan = select::parse_plan(plan_text({rule(two_nodes, "1", "4096", "native")}));
    const auto choice = select::choose(plan, collectives::named("bcast"), layout(), 0, 100);
    EXPECT_EQ(choice.recipe, compose::Recipe{});
    EXPECT_EQ(choice.reason, "measured: nothing tried was faster than native for " + two_nodes);
}

TEST(TheChoice, LeavesNothingToTrialsWhoseSizesNoRanksAgreeOn) {
    const auto plan = select::parse_plan(plan_text({}));
    for (const auto& collective : collectives::all()) {
        const auto choice = select::choose(plan, collective, layout(), 0, 100);
        const bool has_price = collective.agreed != collectives::Agreed::nothing;
        EXPECT_EQ(choice.basis, has_price ? select::Basis::predicted : select::Basis::none)
            << collective.name;
    }
}

TEST(APlanWithRulesForTheJob, Fits) {
    const auto some_root = select::parse_plan(plan_text({rule(two_nodes, "1", "4096", "native")}));
    EXPECT_EQ(select::misfit(some_root, layout()), "");
    EXPECT_EQ(select::misfit(select::parse_plan(plan_text({})), layout().restricted_to({1})), "");
}

TEST(APlanForOtherJobs, SaysForWhichAndWhatThisOneIs) {
    const auto of = [](const std::vector<std::string>& rules) {
        return select::misfit(select::parse_plan(plan_text(rules)), layout());
    };
    const std::string todo =
        ", so collectives among all of them are the MPI library's own; survey with ranks like these: "
        "isochrone survey -o OTHER -- LAUNCHER ..., then: isochrone run --plan OTHER";
    EXPECT_EQ(
        of({rule("8 ranks in one node", "1", "9", "flat")}),
        "the plan holds for 8 ranks in one node; this job has 4 ranks in one machine (node 2x2)" + todo);
    const auto first = rule("4 ranks in one machine; node 1x3+1x1; root in 1", "1", "9", "flat");
    const auto other_root = rule("4 ranks in one machine; node 1x3+1x1; root in 3", "1", "9", "flat");
    const auto second = rule("6 ranks in one node", "1", "9", "flat");
    EXPECT_EQ(
        of({first, other_root, second})
            .find(
                "the plan holds for 4 ranks in one machine (node 1x3+1x1) and 6 ranks in one node; this job"),
        0U);
    EXPECT_EQ(of({first, second, rule("7 ranks in one node", "1", "9", "flat"),
                  rule("9 ranks in one node", "1", "9", "flat")})
                  .find("the plan holds for 4 ranks in one machine (node 1x3+1x1), 6 ranks in one node and 2 "
                        "more; this job"),
              0U);
}

TEST(APlanForAnotherOrderOfTheSameRanks, SaysSo) {
    const auto of = [](const std::string& order) {
        auto text = rule(two_nodes, "1", "9", "flat");
        text.insert(1, R"("order":")" + order + R"(",)");
        return select::misfit(select::parse_plan(plan_text({text})), layout());
    };
    const std::string here = place::order(layout());
    EXPECT_EQ(of(here), "");
    EXPECT_EQ(
        of("another").find("the plan holds for ranks in the order another; this job has them in the order " +
                           here + ", so"),
        0U);
}

TEST(APlanWithoutRules, SaysSo) {
    EXPECT_EQ(select::misfit(select::parse_plan(plan_text({})), layout()).find("the plan has no rule for"),
              0U);
}

topology::Topology two_levels() {
    topology::Topology topology;
    topology.levels = {{"machine", {{0}}, {}}, {"node", {{0}}, {}}};
    return topology;
}

TEST(ThePlansNamesOfLevels, ReplaceThoseOfItsTopology) {
    auto topology = two_levels();
    select::use_names_of(select::parse_plan(plan_text({})), topology);
    EXPECT_EQ(topology.levels[1].name, "node");
    select::use_names_of(select::parse_plan(plan_text({}, R"(,"levels":["site","switch"])")), topology);
    EXPECT_EQ(topology.levels[0].name, "site");
    EXPECT_EQ(topology.levels[1].name, "switch");
}

TEST(ThePlansNamesOfLevels, AreAsManyAsTheTopologyHasLevels) {
    auto topology = two_levels();
    const auto plan = select::parse_plan(plan_text({}, R"(,"levels":["site"])"));
    try {
        select::use_names_of(plan, topology);
        FAIL();
    } catch (const std::invalid_argument& error) {
        EXPECT_EQ(std::string(error.what()), "the plan names 1 levels, and its topology has 2");
    }
    EXPECT_NE(error_of(plan_text({}, R"(,"levels":"node")")), "");
    EXPECT_NE(error_of(plan_text({}, R"(,"levels":[7])")), "");
}

TEST(ARecipeThatDoesNotFitTheTopology, GivesNativeAndSaysWhy) {
    for (const std::string recipe : {"hierarchical(rack=flat)", "teleport", "hierarchical(node=flat)"}) {
        const auto plan = select::parse_plan(plan_text({rule(two_nodes, "1", "4096", recipe)}));
        const auto choice = select::choose(plan, collectives::named("bcast"), layout(), 0, 100);
        EXPECT_EQ(choice.recipe, compose::Recipe{});
        EXPECT_EQ(choice.reason.find(recipe + " does not fit: "), 0U) << choice.reason;
    }
}

TEST(AScanOverTheNodes, RunsOnRanksOfTheSameShapeOnlyIfNodesAreRunsOfThem) {
    const auto plan = select::parse_plan(plan_text({rule("4 ranks in one machine; node 2x2", "1", "4096",
                                                         "hierarchical(machine=chain,node=chain)", "scan")}));
    const auto& scan = collectives::named("scan");
    EXPECT_EQ(select::choose(plan, scan, layout(), 0, 100).recipe, plan.rules.front().recipe);
    const auto dealt_out = layout().restricted_to({0, 2, 1, 3});
    const auto choice = select::choose(plan, scan, dealt_out, 0, 100);
    EXPECT_EQ(choice.recipe, compose::Recipe{});
    EXPECT_EQ(
        choice.reason,
        "hierarchical(machine=chain,node=chain) does not fit: the groups of level 'node' are no runs of "
        "consecutive ranks, whose order is to be kept");
}

TEST(ARootOutsideTheCommunicator, IsRefusedByTheChoice) {
    const auto plan = select::parse_plan(plan_text({}));
    EXPECT_THROW(static_cast<void>(select::choose(plan, collectives::named("bcast"), layout(), 4, 1)),
                 std::invalid_argument);
    EXPECT_THROW(static_cast<void>(select::choose(plan, collectives::named("bcast"), layout(), -1, 1)),
                 std::invalid_argument);
}

}  // namespace
}  // namespace isochrone::tests
