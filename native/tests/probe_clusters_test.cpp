// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "probe/cluster_order.hpp"
#include "probe/clusters.hpp"
#include "support/probe_orders.hpp"

namespace isochrone::tests {
namespace {

using mpi::probe::ClusterOrder;
using mpi::probe::Clusters;
using mpi::probe::Order;
using mpi::probe::Turn;

/// The ranks in random order, divided at random and so on.
std::string random_tree(std::vector<int> ranks, std::mt19937_64& random, int depth = 0) {
    std::shuffle(ranks.begin(), ranks.end(), random);
    std::string text = "(";
    if (depth == 4 || random() % 4 == 0) {
        for (const int rank : ranks) text += (text.size() > 1 ? "," : "") + std::to_string(rank);
        return text + ")";
    }
    while (!ranks.empty()) {
        const auto taken = static_cast<std::ptrdiff_t>(1 + random() % ranks.size());
        text += random_tree({ranks.end() - taken, ranks.end()}, random, depth + 1);
        ranks.resize(ranks.size() - static_cast<std::size_t>(taken));
    }
    return text + ")";
}

/// Calls `test(order, clusters, number of pairs)` for many trees, with all, some and no pairs.
template <typename Test>
void for_many_trees(Test test) {
    std::mt19937_64 random(1);
    for (int ranks = 1; ranks <= most_ranks; ++ranks) {
        for (const double chance : {0.0, 0.1, 0.7, 1.0}) {
            std::vector<int> numbers(static_cast<std::size_t>(ranks));
            std::iota(numbers.begin(), numbers.end(), 0);
            const std::string tree = random_tree(numbers, random);
            const Pairs pairs = some_pairs(ranks, chance, random);
            SCOPED_TRACE(testing::Message() << tree << ", " << pairs.size() << " pairs");
            const Clusters clusters(tree);
            ASSERT_EQ(clusters.complaint(ranks), "");
            test(ClusterOrder(clusters, pairs, random()), clusters, pairs.size());
        }
    }
}

/// The innermost cluster that both ranks of a turn are in.
int common(const Clusters& clusters, const Turn& turn) {
    return clusters.common(clusters.groups()[static_cast<std::size_t>(turn.initiator)],
                           clusters.groups()[static_cast<std::size_t>(turn.responder)]);
}

bool holds(const Clusters& clusters, int outer, int inner) {
    while (inner > outer) inner = clusters.around(inner);
    return inner == outer;
}

/// Whether one of the clusters holds the other, so that pairs of theirs must not run at once.
bool overlap(const Clusters& clusters, int one, int other) {
    return holds(clusters, one, other) || holds(clusters, other, one);
}

/// The turns of all ranks, each once, by step.
std::vector<Turn> each_turn(const Order& order, int ranks) {
    std::vector<Turn> turns;
    for (int rank = 0; rank < ranks; ++rank) {
        for (const Turn& turn : order.turns(rank, 0, order.steps())) {
            if (turn.initiator == rank) turns.push_back(turn);
        }
    }
    std::sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) {
        return std::pair(a.step, a.initiator) < std::pair(b.step, b.initiator);
    });
    return turns;
}

int ranks_of(const Clusters& clusters) { return static_cast<int>(clusters.groups().size()); }

TEST(AnOrderOfClusters, HoldsEveryPairOnceAndBothRanksKnowItInPiecesToo) {
    for_many_trees([](const Order& order, const Clusters& clusters, std::size_t pairs) {
        std::map<std::pair<int, int>, int> seen;
        for (int rank = 0; rank < ranks_of(clusters); ++rank) {
            std::vector<Turn> pieces;
            for (std::int64_t first = 0; first < order.steps(); first += 7) {
                const auto piece = order.turns(rank, first, std::min(first + 7, order.steps()));
                pieces.insert(pieces.end(), piece.begin(), piece.end());
            }
            EXPECT_EQ(pieces, order.turns(rank, 0, order.steps()));
            std::int64_t previous = -1;
            for (const Turn& turn : pieces) {
                EXPECT_GT(turn.step, previous);
                previous = turn.step;
                ASSERT_TRUE(turn.initiator == rank || turn.responder == rank);
                ++seen[std::minmax(turn.initiator, turn.responder)];
            }
        }
        EXPECT_EQ(seen.size(), pairs);
        for (const auto& [pair, times] : seen) EXPECT_EQ(times, 2) << pair.first << ' ' << pair.second;
    });
}

TEST(AnOrderOfClusters, HasSeparateClustersAtOnceAndInnerOnesFirst) {
    for_many_trees([](const Order& order, const Clusters& clusters, std::size_t) {
        const auto turns = each_turn(order, ranks_of(clusters));
        for (const Turn& one : turns) {
            std::int64_t earliest = 0;
            for (const Turn& other : turns) {
                if (other.step >= one.step) break;
                if (!overlap(clusters, common(clusters, one), common(clusters, other))) continue;
                EXPECT_TRUE(holds(clusters, common(clusters, one), common(clusters, other)));
                earliest = other.step + 1;
            }
            EXPECT_EQ(one.step, earliest) << "time is lost, or two pairs are at one step";
        }
    });
}

/// Runs the turns as the ranks of a probe do, each turn for a random time: a rank takes its turns in their
/// order, and the initiator waits for the turns before its own.
TEST(AnOrderOfClusters, LetsNoPairRunBesideOneThatItMustNotDisturbHoweverLongTheyTake) {
    std::mt19937_64 random(1);
    for_many_trees([&random](const Order& order, const Clusters& clusters, std::size_t) {
        struct Span {
            int cluster = 0;
            double start = 0;
            double end = 0;
        };
        std::map<std::pair<std::int64_t, int>, double> end_of;
        std::map<int, double> idle_from;
        std::vector<Span> spans;
        const auto turns = each_turn(order, ranks_of(clusters));
        for (const Turn& turn : turns) {
            double start = std::max(idle_from[turn.initiator], idle_from[turn.responder]);
            for (const Turn& earlier : order.before(turn)) {
                const auto ended = end_of.find({earlier.step, earlier.initiator});
                ASSERT_NE(ended, end_of.end()) << "waits for a turn that is not before it";
                const auto after = order.after(earlier);
                ASSERT_NE(std::find(after.begin(), after.end(), turn), after.end()) << "no token comes";
                start = std::max(start, ended->second);
            }
            for (const Turn& later : order.after(turn)) {
                const auto before = order.before(later);
                ASSERT_NE(std::find(before.begin(), before.end(), turn), before.end()) << "a token stays";
            }
            const double end = start + std::uniform_real_distribution<>(0.1, 5)(random);
            idle_from[turn.initiator] = idle_from[turn.responder] = end;
            end_of[{turn.step, turn.initiator}] = end;
            const int cluster = common(clusters, turn);
            for (const Span& span : spans) {
                if (start < span.end && span.start < end) {
                    EXPECT_FALSE(overlap(clusters, cluster, span.cluster)) << "step " << turn.step;
                }
            }
            spans.push_back({cluster, start, end});
        }
    });
}

TEST(AnOrderOfClusters, IsRandomAndFollowsTheSeed) {
    const Clusters clusters("((0-9)(10-19))((20-29)(30-39))");
    std::mt19937_64 random(1);
    const Pairs pairs = some_pairs(most_ranks, 1.0, random);
    const auto turns = [&](std::uint64_t seed) {
        return all_turns(ClusterOrder(clusters, pairs, seed), most_ranks);
    };
    EXPECT_EQ(turns(5), turns(5));
    EXPECT_NE(turns(5), turns(6));
    // 45 pairs in each of the groups at once, then 100 in each half, then 400.
    EXPECT_EQ(ClusterOrder(clusters, pairs, 1).steps(), 545);
}

TEST(ClustersOfRanks, ThatShareAMachineBecomeOneGroup) {
    const auto groups = [](std::string_view tree, const std::vector<int>& machines) {
        Clusters clusters(tree);
        clusters.keep_together(machines);
        const std::vector<int> found = clusters.groups();
        for (const int group : found) EXPECT_TRUE(clusters.parts(group).empty());
        std::map<int, int> numbers;
        std::vector<int> result;
        for (const int group : found)
            result.push_back(numbers.try_emplace(group, static_cast<int>(numbers.size())).first->second);
        return result;
    };
    using Groups = std::vector<int>;
    EXPECT_EQ(groups("((0)(1))((2)(3))", {0, 1, 2, 3}), (Groups{0, 1, 2, 3}));
    EXPECT_EQ(groups("((0)(1))((2)(3))", {0, 0, 1, 2}), (Groups{0, 0, 1, 2}));
    EXPECT_EQ(groups("((0)(1))((2)(3))", {0, 1, 1, 2}), (Groups{0, 0, 0, 0}));
    EXPECT_EQ(groups("((0)(1))((2)(3))", {0, 0, 0, 0}), (Groups{0, 0, 0, 0}));
    EXPECT_EQ(groups("(0-1)(2-3)", {0, 1, 2, 2}), (Groups{0, 0, 1, 1}));
}

TEST(ClustersOfRanks, NameTheRankThatIsMissingOrTooMuch) {
    const Clusters clusters("(0,1)(3)");
    EXPECT_EQ(clusters.complaint(4), "rank 2 of 4 is in no cluster");
    EXPECT_EQ(Clusters("(0,1)(2)").complaint(4), "rank 3 of 4 is in no cluster");
    EXPECT_EQ(Clusters("(0,1)(2)").complaint(3), "");
    EXPECT_EQ(Clusters("(0,1)(2)").complaint(2), "a cluster has rank 2, but there are only 2 ranks");
}

TEST(ClustersOfRanks, AreNotReadFromAnythingElse) {
    const std::string deep(100'000, '(');
    for (const std::string_view text : {"",
                                        "0",
                                        "()",
                                        "(0",
                                        "0)",
                                        "(0))",
                                        "(0)1",
                                        "(0,)",
                                        "(,0)",
                                        "(0,,1)",
                                        "(0-)",
                                        "(-1)",
                                        "(2-1)",
                                        "(0)(0)",
                                        "(0,0)",
                                        "(0-3,2)",
                                        "(0(1))",
                                        "((0)1)",
                                        "(0 1)",
                                        "(0)\n",
                                        "(+0)",
                                        "(0x1)",
                                        "(1048576)",
                                        "(0-4294967296)",
                                        "(99999999999999999999)",
                                        "(0-1-2)",
                                        "(a)",
                                        deep.c_str()}) {
        try {
            const Clusters clusters(text);
            ADD_FAILURE() << text.substr(0, 40);
        } catch (const std::invalid_argument& error) {
            EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos);
        }
    }
}

}  // namespace
}  // namespace isochrone::tests
