// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "patterns/peers.hpp"

namespace isochrone::tests {
namespace {

namespace patterns = core::patterns;

TEST(EveryPattern, HasAReceiverForEachMessageAndASenderForEachReceive) {
    for (const auto& pattern : patterns::all()) {
        for (int size = patterns::fewest_ranks; size <= 33; ++size) {
            for (const int root : {0, size - 1}) {
                int sent = 0;
                int received = 0;
                for (int rank = 0; rank < size; ++rank) {
                    const auto peers = pattern.peers(rank, size, root);
                    sent += static_cast<int>(peers.to.size());
                    received += static_cast<int>(peers.from.size());
                    for (const auto& from : peers.from) {
                        ASSERT_GE(from.rank, 0);
                        ASSERT_LT(from.rank, size);
                        ASSERT_NE(from.rank, rank) << pattern.name << " of " << size;
                        const auto other = pattern.peers(from.rank, size, root);
                        ASSERT_EQ(other.to.at(static_cast<std::size_t>(from.slot)), rank)
                            << pattern.name << " of " << size;
                    }
                }
                EXPECT_EQ(sent, received) << pattern.name << " of " << size;
                EXPECT_GT(sent, 0) << pattern.name << " of " << size;
                EXPECT_GT(pattern.messages(size), 0);
            }
        }
    }
}

TEST(Halo, IsARingOfPrimeNumbersAndAGridOfOthers) {
    EXPECT_EQ(patterns::grid_rows(7), 1);
    EXPECT_EQ(patterns::grid_rows(12), 3);
    EXPECT_EQ(patterns::grid_rows(16), 4);
    EXPECT_EQ(patterns::grid(0, 5, 0).to, (std::vector<int>{4, 1}));
    EXPECT_EQ(patterns::grid(0, 12, 0).to, (std::vector<int>{3, 1, 8, 4}));
    // Two ranks are each other's neighbour on both sides.
    EXPECT_EQ(patterns::grid(0, 2, 0).to, (std::vector<int>{1, 1}));
    EXPECT_EQ(patterns::named("halo").messages(12), 8);
}

TEST(Window, IsThatOfOthersUntilMemoryIsShort) {
    const auto& stream = patterns::named("bandwidth");
    EXPECT_EQ(patterns::window(stream, 2, 0, 0), 64);
    EXPECT_EQ(patterns::window(stream, 2, 0, 1 << 20), 64);
    EXPECT_EQ(patterns::window(stream, 2, 0, 4 << 20), 16);
    EXPECT_EQ(patterns::window(stream, 2, 0, 1 << 30), 1);
    EXPECT_EQ(patterns::window(patterns::named("fanin"), 17, 0, 1 << 20), 4);
    EXPECT_EQ(patterns::window(patterns::named("halo"), 17, 0, 8), 1);
    EXPECT_EQ(patterns::parts(patterns::named("pingpong"), 1), 2);
    EXPECT_EQ(patterns::parts(stream, 16), 16);
}

TEST(Pattern, ThatDoesNotExistIsNamed) { EXPECT_THROW((void)patterns::named("pong"), std::invalid_argument); }

}  // namespace
}  // namespace isochrone::tests
