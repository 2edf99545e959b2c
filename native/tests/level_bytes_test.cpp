// SPDX-License-Identifier: BSD-3-Clause
//
// A hierarchical recipe sends over a slow level what its algorithm there sends among as many ranks as that
// level has parts, and nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "collectives/collective.hpp"
#include "compose/compose.hpp"
#include "simulate/simulate.hpp"
#include "support/random_layout.hpp"
#include "support/ways.hpp"

namespace isochrone::tests {
namespace {

using namespace core;
using collectives::Collective;

constexpr std::int64_t total_bytes = 10'007;

/// Bytes between ranks that meet at each level.
std::vector<std::int64_t> level_bytes(const Collective& collective, const std::string& recipe,
                                      const place::Layout& layout, int root) {
    const auto resolved = compose::resolve(collective, compose::parse_recipe(recipe), layout);
    std::vector<schedule::Schedule> schedules;
    for (int rank = 0; rank < layout.size; ++rank)
        schedules.push_back(compose::schedule_of(resolved, layout, rank, root));
    const collectives::Question question{
        .size = layout.size, .root = root, .total = total_bytes, .segment = resolved.recipe.segment_bytes};
    std::vector<schedule::Extents> all;
    for (int rank = 0; rank < layout.size; ++rank)
        all.push_back(collectives::extents(collective, question, rank));
    return simulate::simulate(schedules, all, layout).level_bytes;
}

int parts_of(const place::Layout& layout, std::size_t level) {
    return static_cast<int>(
        std::set<int>(layout.group_of[level].begin(), layout.group_of[level].end()).size());
}

/// Operands that keep the order of ranks go through groups that are runs of them.
place::Layout layout_for(const Collective& collective, int size, std::mt19937_64& random) {
    return collective.in_order ? random_layout_of_runs(size, 3, random) : random_layout(size, 3, random);
}

TEST(EveryHierarchicalRecipe, CrossesTheSlowestLevelAsItsAlgorithmDoesAmongThePartsAlone) {
    std::mt19937_64 random(1);
    for (const Collective& collective : collectives::all()) {
        if (collective.has_blocks()) continue;
        for (const auto& row : collective.across()) {
            for (int trial = 0; trial < 25; ++trial) {
                const int size = 2 + static_cast<int>(random() % 40);
                const auto layout = layout_for(collective, size, random);
                const int root =
                    collective.rooted ? static_cast<int>(random() % static_cast<unsigned>(size)) : 0;
                const std::string name(row.name);
                const auto recipe = "hierarchical(machine=" + name +
                                    ",level-1=" + along("binomial", collective) +
                                    ",level-2=" + along("flat", collective) + ")";
                const auto alone = random_layout(parts_of(layout, 1), 1, random);
                EXPECT_EQ(level_bytes(collective, recipe, layout, root)[0],
                          level_bytes(collective, name, alone, 0)[0])
                    << collective.name << " by " << recipe << ", " << size << " ranks";
            }
        }
    }
}

/// What no algorithm can do with less: the message into each part, out of each part, or both; of a scan, into
/// each but the first.
TEST(TreesAcrossTheSlowestLevel, SendTheFewestBytesThatCanBe) {
    std::mt19937_64 random(2);
    for (int trial = 0; trial < 100; ++trial) {
        const int size = 2 + static_cast<int>(random() % 40);
        for (const auto& [name, across, ways] : {std::tuple{"bcast", "binomial", 1},
                                                 {"reduce", "binomial", 1},
                                                 {"allreduce", "binomial", 2},
                                                 {"scan", "chain", 1},
                                                 {"exscan", "chain", 1}}) {
            const auto& collective = collectives::named(name);
            const auto layout = layout_for(collective, size, random);
            const std::string recipe = std::string("hierarchical(machine=") + across +
                                       ",level-1=" + along("flat", collective) +
                                       ",level-2=" + along("binomial", collective) + ")@4096";
            const std::int64_t others = parts_of(layout, 1) - 1;
            EXPECT_EQ(level_bytes(collective, recipe, layout, 0)[0], ways * others * total_bytes) << name;
        }
    }
}

/// Blocks: each crosses the slowest level no more often than it must. Lengths that have to be learnt come on
/// top, eight bytes each.
TEST(BlocksAcrossTheSlowestLevel, CrossItOnceForEachPartThatWantsThem) {
    std::mt19937_64 random(3);
    for (int trial = 0; trial < 100; ++trial) {
        const int size = 2 + static_cast<int>(random() % 40);
        const auto layout = random_layout(size, 3, random);
        const int root = static_cast<int>(random() % static_cast<unsigned>(size));
        const auto& part_of = layout.group_of[1];
        const auto members = [&](int rank) {
            return std::count(part_of.begin(), part_of.end(), part_of[static_cast<std::size_t>(rank)]);
        };
        const std::int64_t parts = parts_of(layout, 1);
        const std::int64_t outside = size - members(root);  // ranks that are not in the root's part
        std::int64_t between = 0;                           // pairs of ranks in different parts
        for (int rank = 0; rank < size; ++rank) between += size - members(rank);
        const auto crossing = [&](const char* name, const std::string& way) {
            const std::string recipe = "hierarchical(machine=" + way + ",level-1=flat,level-2=flat)";
            const auto& collective = collectives::named(name);
            return level_bytes(collective, recipe, layout, collective.rooted ? root : 0)[0];
        };
        EXPECT_EQ(crossing("gather", "flat"), outside * total_bytes);
        EXPECT_EQ(crossing("scatter", "flat"), outside * total_bytes);
        for (const char* way : {"linear", "ring", "neighbour_exchange", "bruck"}) {
            EXPECT_EQ(crossing("allgather", way), (parts - 1) * size * total_bytes) << way;
        }
        for (const char* way : {"pairwise", "ring"}) {
            EXPECT_EQ(crossing("reduce_scatter_block", way), (parts - 1) * size * total_bytes) << way;
        }
        for (const char* name : {"alltoall", "alltoallv"}) {
            for (const char* way : {"linear", "pairwise"}) {
                const std::string recipe =
                    std::string("hierarchical(machine=") + way + ",level-1=linear,level-2=pairwise)";
                EXPECT_EQ(level_bytes(collectives::named(name), recipe, layout, 0)[0], between * total_bytes)
                    << name << " by " << way;
            }
        }
    }
}

}  // namespace
}  // namespace isochrone::tests
