// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <numeric>

#include "compose/alltoallv.hpp"
#include "compose/gatherv.hpp"
#include "support/claims.hpp"
#include "support/random_layout.hpp"

namespace isochrone::tests {
namespace {

using namespace core;
namespace trees = algorithms::trees;

constexpr int largest_group = 33;

/// All levels, some of the inner ones left out.
std::vector<int> random_levels(const place::Layout& layout, std::mt19937_64& random) {
    std::vector<int> levels{0};
    for (int l = 1; l < static_cast<int>(layout.levels.size()); ++l) {
        if (random() % 4 != 0) levels.push_back(l);
    }
    return levels;
}

std::vector<trees::Tree> random_trees(std::size_t count, std::mt19937_64& random) {
    static constexpr trees::Tree all[] = {trees::flat, trees::chain, trees::binary, trees::binomial};
    std::vector<trees::Tree> result;
    for (std::size_t i = 0; i < count; ++i) result.push_back(all[random() % 4]);
    return result;
}

template <class Check>
void on_random_clusters(std::uint64_t seed, Check&& check) {
    std::mt19937_64 random(seed);
    for (int size = 1; size <= largest_group; ++size) {
        for (int trial = 0; trial < 8; ++trial) {
            const auto layout = random_layout(size, 1 + static_cast<int>(random() % 4), random);
            check(layout, random_levels(layout, random), random);
        }
    }
}

TEST(TheHierarchicalGatherv, NeedsCountsAtTheRootOnly) {
    on_random_clusters(
        12, [](const place::Layout& layout, const std::vector<int>& levels, std::mt19937_64& random) {
            const int root = static_cast<int>(random() % static_cast<unsigned>(layout.size));
            const auto trees = random_trees(levels.size(), random);
            std::vector<std::int64_t> counts;
            std::vector<schedule::Schedule> schedules;
            for (int rank = 0; rank < layout.size; ++rank) {
                counts.push_back(static_cast<std::int64_t>(random() % 7));
                schedules.push_back(compose::hierarchical_gatherv(layout, levels, trees, rank, root));
            }
            const prove::Options options{
                .window = 1 + static_cast<int>(random() % 6), .seed = random(), .groups = {}};
            const auto failure = prove::prove(schedules, gatherv_claims(layout.size, root, counts), options);
            EXPECT_FALSE(failure) << *failure << " (" << layout.size << " ranks, root " << root << ")";
        });
}

TEST(TheHierarchicalAlltoallv, DeliversEveryBlockOfEveryLength) {
    on_random_clusters(
        13, [](const place::Layout& layout, const std::vector<int>& levels, std::mt19937_64& random) {
            std::vector<std::vector<std::int64_t>> counts(static_cast<std::size_t>(layout.size));
            std::vector<schedule::Schedule> schedules;
            for (int rank = 0; rank < layout.size; ++rank) {
                for (int other = 0; other < layout.size; ++other) {
                    counts[static_cast<std::size_t>(rank)].push_back(static_cast<std::int64_t>(random() % 4));
                }
                schedules.push_back(compose::hierarchical_alltoallv(layout, levels, rank));
            }
            const prove::Options options{
                .window = 1 + static_cast<int>(random() % 6), .seed = random(), .groups = {}};
            const auto failure = prove::prove(schedules, alltoallv_claims(counts), options);
            EXPECT_FALSE(failure) << *failure << " (" << layout.size << " ranks)";
        });
}

}  // namespace
}  // namespace isochrone::tests
