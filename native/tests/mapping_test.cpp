// SPDX-License-Identifier: BSD-3-Clause
#include "compose/mapping.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/random_layout.hpp"

namespace isochrone::tests {
namespace {

using namespace core;
using compose::mapped;
using compose::Walk;
namespace trees = algorithms::trees;
using Ranks = std::vector<int>;

/// Ranks 0 to 3 on one node, 4 to 7 on another.
place::Layout two_nodes() {
    std::mt19937_64 random(1);
    auto layout = random_layout(8, 2, random);
    layout.group_of[1] = {0, 0, 0, 0, 1, 1, 1, 1};
    return layout;
}

TEST(ATreeLaidDepthFirst, HasItsLongestPathOnTheShortestLinks) {
    // Positions 0, 4, 6 and 7 are the longest path.
    EXPECT_EQ(mapped(two_nodes(), trees::binomial, 0, 0, Walk::depth_first), (Ranks{0, 7, 5, 6, 1, 4, 2, 3}));
}

TEST(ATreeLaidBreadthFirst, HasTheMessagesOfTheRootOnTheShortestLinks) {
    EXPECT_EQ(mapped(two_nodes(), trees::binomial, 0, 0, Walk::breadth_first),
              (Ranks{0, 3, 2, 6, 1, 5, 4, 7}));
}

TEST(ATreeLaidOverTheNetwork, BeginsAtTheRoot) {
    EXPECT_EQ(mapped(two_nodes(), trees::binomial, 0, 6, Walk::breadth_first),
              (Ranks{6, 7, 5, 2, 4, 1, 0, 3}));
}

TEST(ATreeLaidOverTheNetwork, HasEveryRankOnce) {
    std::mt19937_64 random(2);
    for (int size = 1; size <= 40; ++size) {
        const auto layout = random_layout(size, 1 + static_cast<int>(random() % 4), random);
        for (const auto walk : {Walk::depth_first, Walk::breadth_first}) {
            const int root = static_cast<int>(random() % static_cast<unsigned>(size));
            auto ranks = mapped(layout, trees::knomial, 3, root, walk);
            EXPECT_EQ(ranks.front(), root);
            std::sort(ranks.begin(), ranks.end());
            for (int rank = 0; rank < size; ++rank) EXPECT_EQ(ranks[static_cast<std::size_t>(rank)], rank);
        }
    }
}

}  // namespace
}  // namespace isochrone::tests
