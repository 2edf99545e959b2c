// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "algorithms/algorithm.hpp"
#include "compose/bcast.hpp"
#include "support/claims.hpp"
#include "support/random_layout.hpp"

namespace isochrone::tests {
namespace {

using namespace core;

constexpr int largest_group = 33;

void expect_proved(const std::string& recipe, const place::Layout& layout, int root,
                   std::mt19937_64& random) {
    const auto resolved = compose::resolve_bcast(compose::parse_recipe(recipe), layout);
    std::vector<schedule::Schedule> schedules;
    for (int rank = 0; rank < layout.size; ++rank)
        schedules.push_back(compose::bcast(resolved, layout, rank, root));
    const auto total = static_cast<std::int64_t>(random() % 41);
    const std::int64_t segment =
        resolved.recipe.segment_bytes > 0 ? 1 + static_cast<std::int64_t>(random() % 12) : 0;
    const prove::Options options{
        .window = 1 + static_cast<int>(random() % 5), .seed = random(), .groups = layout.group_of};
    const auto failure = prove::prove(schedules, bcast_claims(layout.size, root, total, segment), options);
    EXPECT_FALSE(failure) << *failure << "\n  " << recipe << ", " << layout.size << " ranks, root " << root
                          << ", " << total << " bytes in segments of " << segment;
}

TEST(EveryBroadcast, IsProvedForEveryGroupSizeAndRoot) {
    std::mt19937_64 random(1);
    for (const auto& algorithm : algorithms::bcast_table()) {
        for (int size = 1; size <= largest_group; ++size) {
            const auto layout = random_layout(size, 3, random);
            for (int root = 0; root < size; root += 1 + static_cast<int>(random() % 5)) {
                const std::string name(algorithm.name);
                expect_proved(name, layout, root, random);
                expect_proved(name + "@7", layout, root, random);
                expect_proved("ordered(" + name + ")@3", layout, root, random);
            }
        }
    }
}

TEST(EveryKnomialRadix, IsProved) {
    std::mt19937_64 random(2);
    for (int radix = 2; radix <= 9; ++radix) {
        for (int size = 1; size <= largest_group; ++size) {
            const auto layout = random_layout(size, 1, random);
            expect_proved("knomial/" + std::to_string(radix), layout,
                          static_cast<int>(random() % static_cast<unsigned>(size)), random);
        }
    }
}

TEST(HierarchicalBroadcasts, AreProvedOnRandomTreesToAnyDepth) {
    std::mt19937_64 random(3);
    const auto table = algorithms::bcast_table();
    for (int size = 1; size <= largest_group; ++size) {
        for (int trial = 0; trial < 12; ++trial) {
            const int depth = 1 + static_cast<int>(random() % 5);
            const auto layout = random_layout(size, depth, random);
            std::string parts;
            for (int l = 0; l < depth; ++l) {
                if (l > 0 && random() % 4 == 0) continue;  // levels may be skipped
                const bool innermost = l == depth - 1;
                parts += (parts.empty() ? "" : ",") + layout.levels[static_cast<std::size_t>(l)] + "=" +
                         (innermost && random() % 3 == 0 ? "native"
                                                         : std::string(table[random() % table.size()].name));
            }
            std::string recipe = "hierarchical(" + parts + ")";
            if (random() % 2 == 0) recipe += "@5";
            expect_proved(recipe, layout, static_cast<int>(random() % static_cast<unsigned>(size)), random);
        }
    }
}

TEST(AScheduleOfASegmentedBroadcast, DoesNotGrowWithTheMessage) {
    std::mt19937_64 random(4);
    const auto layout = random_layout(16, 2, random);
    const auto resolved = compose::resolve_bcast(
        compose::parse_recipe("hierarchical(machine=chain,level-1=binary)@4096"), layout);
    EXPECT_LE(compose::bcast(resolved, layout, 0, 0).ops.size(), 4U);
}

}  // namespace
}  // namespace isochrone::tests
