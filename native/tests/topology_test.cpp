// SPDX-License-Identifier: BSD-3-Clause
#include "topology/topology.hpp"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

namespace isochrone::tests {
namespace {

using namespace core;

const std::string links =
    R"({"latency_s":1e-6,"send_overhead_s":[[0,2e-7],[1024,3e-7]],"receive_overhead_s":[],)"
    R"("gap_s":[[0,0],[65536,7e-6]],"capacity_bytes_per_s":null})";

std::string text_with(const std::string& groups = "[[0,1],[2]]", const std::string& machine_links = links,
                      const std::string& node_links = links) {
    return R"({"isochrone":"topology","schema_version":1,"fingerprint":"f00d",)"
           R"("places":[{"host":"a","cpus":"0-3","signature":"x"},)"
           R"({"host":"a","cpus":null,"signature":"x"},{"host":"b","cpus":"1"}],"ranks":[0,1,2],)"
           R"("levels":[{"name":"machine","groups":[[2,0,1]],"confidence":1.0,"links":)" +
           machine_links + R"(},{"name":"node","groups":)" + groups + R"(,"confidence":null,"links":)" +
           node_links + R"(}],"accuracy":{},"agreement":{},"source":{},"provenance":{}})";
}

std::string error_of(const std::string& text) {
    try {
        static_cast<void>(topology::parse(text));
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

std::string error_with(const std::string& from, const std::string& to) {
    std::string text = text_with();
    return error_of(text.replace(text.find(from), from.size(), to));
}

TEST(ATopology, IsReadAsItIsWritten) {
    const auto topology = topology::parse(text_with());
    EXPECT_EQ(topology.fingerprint, "f00d");
    ASSERT_EQ(topology.places.size(), 3U);
    EXPECT_EQ(topology.places[0].cpus, "0-3");
    EXPECT_EQ(topology.places[1].cpus, "");
    EXPECT_EQ(topology.places[2].signature, "");
    ASSERT_EQ(topology.levels.size(), 2U);
    EXPECT_EQ(topology.levels[1].name, "node");
    EXPECT_EQ(topology.levels[1].groups, (std::vector<std::vector<int>>{{0, 1}, {2}}));
    EXPECT_EQ(topology.levels[1].links.latency_s, 1e-6);
    EXPECT_EQ(topology.levels[1].links.capacity_bytes_per_s, 0);
    EXPECT_DOUBLE_EQ(topology.levels[1].links.gap_s.at(32768), 3.5e-6);
    EXPECT_DOUBLE_EQ(topology.levels[1].links.gap_s.at(131072), 14e-6);
}

TEST(ATopology, HasNamesThatRecipesCanHaveAndTimesThatAreFinite) {
    for (const char* name : {"Node A", "NODE", "", "a\\nb"}) {
        EXPECT_EQ(error_with(R"("name":"node")", R"("name":")" + std::string(name) + '"'),
                  "levels[1]: the name of a level is not of small letters, digits, - and _");
    }
    EXPECT_EQ(error_with(R"("capacity_bytes_per_s":null)", R"("capacity_bytes_per_s":1e-310)"),
              "levels[0]: capacity_bytes_per_s is too small");
}

TEST(ALatencyOfHalfARoundTrip, HasTheReceiversOverheadOfTheSmallestMessageInIt) {
    const auto links_with = [](const std::string& receive) {
        const std::string told =
            R"({"latency_s":5e-6,"send_overhead_s":[],"receive_overhead_s":)" + receive + R"(,"gap_s":[]})";
        return topology::parse(text_with("[[0,1],[2]]", told, told)).levels[0].links;
    };
    const auto part = links_with("[[0,2e-6],[1024,9e-6]]");
    EXPECT_DOUBLE_EQ(part.latency_s, 3e-6);
    EXPECT_DOUBLE_EQ(part.receive_overhead_s.at(0), 2e-6);
    EXPECT_DOUBLE_EQ(part.receive_overhead_s.at(4096), 2e-6);
    // It is no more than all of it.
    const auto whole = links_with("[[0,7e-6]]");
    EXPECT_DOUBLE_EQ(whole.latency_s, 0);
    EXPECT_DOUBLE_EQ(whole.receive_overhead_s.at(0), 5e-6);
}

TEST(ALevelAtWhichNoSurveyedPairMet, TakesTheParametersOfTheNearestOutside) {
    const std::string slow = R"({"latency_s":5e-6,"send_overhead_s":[],"receive_overhead_s":[],"gap_s":[]})";
    EXPECT_EQ(topology::parse(text_with("[[0,1],[2]]", slow, "null")).levels[1].links.latency_s, 5e-6);
    EXPECT_EQ(topology::parse(text_with("[[0,1],[2]]", "null", slow)).levels[0].links.latency_s, 5e-6);
    EXPECT_EQ(error_of(text_with("[[0,1],[2]]", "null", "null")), "");
}

TEST(LevelsThatAreNoTree, AreRefused) {
    EXPECT_EQ(error_of(text_with("[[0,1]]")), "level 'node' does not hold each place once");
    EXPECT_EQ(error_of(text_with("[[0,1],[1,2]]")), "level 'node' does not hold each place once");
    EXPECT_EQ(error_of(text_with("[[0,1],[2],[]]")), "level 'node' has an empty group");
    EXPECT_EQ(error_with("[[2,0,1]]", "[[0,1],[2]]"), "the first level is not one group of all places");
    EXPECT_EQ(error_with("[[2,0,1]]", "[]"), "the first level is not one group of all places");
}

TEST(ALevelThatCutsAcrossTheOneBefore, IsRefused) {
    std::string text = text_with();
    const std::string third = R"({"name":"socket","groups":[[0],[1,2]],"links":null}],"accuracy")";
    text.replace(text.find("],\"accuracy\""), 12, "," + third);
    EXPECT_EQ(error_of(text), "level 'socket' does not refine the one before");
}

TEST(PlacesThatDoNotExist, AreRefusedWhateverTheyAreWrittenAs) {
    for (const std::string place :
         {"3", "-1", "0.5", "1e300", "4294967296", "18446744073709551616", "true", "null", "\"0\"", "[0]"}) {
        EXPECT_EQ(
            error_of(text_with("[[0,1],[2," + place + "]]")).find("levels[1]: a place of a group is not"), 0U)
            << place;
    }
    EXPECT_NE(error_of(text_with("0")), "");
    EXPECT_NE(error_of(text_with("{\"a\":[0,1,2]}")), "");
}

TEST(ParametersThatAreNoTimes, AreRefused) {
    EXPECT_EQ(error_with("\"latency_s\":1e-6", "\"latency_s\":-1"),
              "levels[0]: latency_s is not a number of at least 0");
    EXPECT_EQ(error_with("\"latency_s\":1e-6", "\"latency_s\":\"1\""),
              "levels[0]: latency_s is not a number of at least 0");
    EXPECT_NE(error_with("\"latency_s\":1e-6", "\"latency_s\":NaN"), "");
    EXPECT_NE(error_with("\"latency_s\":1e-6", "\"latency_s\":1e999"), "");
    EXPECT_EQ(error_with("[1024,3e-7]", "[0,3e-7]"), "levels[0]: the sizes of send_overhead_s do not ascend");
    EXPECT_EQ(error_with("[1024,3e-7]", "[1e300,3e-7]").find("levels[0]: a size of send_overhead_s is not"),
              0U);
    EXPECT_NE(error_with("[1024,3e-7]", "[1024]"), "");
    EXPECT_NE(error_with("[1024,3e-7]", "7"), "");
}

TEST(AFileOfAnotherKindOrVersion, IsRefused) {
    EXPECT_EQ(error_with("\"topology\"", "\"plan\""), "it is not a topology");
    EXPECT_EQ(error_with("\"schema_version\":1", "\"schema_version\":2"), "it is of another schema version");
    for (const std::string text : {"", "{}", "[]", "null", "\"topology\"", "7"})
        EXPECT_NE(error_of(text), "") << text;
}

TEST(AFileNestedWithoutEnd, IsRefused) {
    EXPECT_NE(error_of(std::string(1'000'000, '[')), "");
    EXPECT_NE(error_of(text_with(std::string(100'000, '[') + std::string(100'000, ']'))), "");
}

TEST(RandomDamageToATopology, NeverDoesMoreThanBeRefusedInOneLine) {
    std::mt19937_64 random(10);
    const std::string good = text_with();
    ASSERT_EQ(error_of(good), "");
    static constexpr std::string_view bytes = "{}[]\",:0123456789.eE+-ntf\\ \xff\n";
    int refused = 0;
    for (int trial = 0; trial < 10000; ++trial) {
        std::string text = good;
        for (int edits = 1 + static_cast<int>(random() % 4); edits > 0; --edits) {
            const auto at = random() % text.size();
            switch (random() % 3) {
                case 0:
                    text[at] = bytes[random() % bytes.size()];
                    break;
                case 1:
                    text.erase(at, random() % 12);
                    break;
                default:
                    text.insert(at, text.substr(random() % text.size(), random() % 12));
            }
        }
        const std::string error = error_of(text);
        if (!error.empty()) ++refused;
        EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    }
    EXPECT_GT(refused, 5000);
}

}  // namespace
}  // namespace isochrone::tests
