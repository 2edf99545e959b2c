// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "probe/rounds.hpp"
#include "probe/turn_list.hpp"
#include "support/probe_orders.hpp"

namespace isochrone::tests {
namespace {

using mpi::probe::Order;
using mpi::probe::Rounds;
using mpi::probe::Turn;
using mpi::probe::TurnList;

std::vector<int> random_hosts(int ranks, std::mt19937_64& random) {
    const auto hosts = 1 + random() % static_cast<std::uint64_t>(ranks);
    std::vector<int> host_of_rank;
    for (int rank = 0; rank < ranks; ++rank) host_of_rank.push_back(static_cast<int>(random() % hosts));
    return host_of_rank;
}

/// Calls `test(order, hosts of the ranks, number of pairs)` for groups of every size on random hosts: with
/// all pairs in rounds, and with lists of few, many and no pairs.
template <typename Test>
void for_many_orders(Test test) {
    std::mt19937_64 random(1);
    for (int ranks = 1; ranks <= most_ranks; ++ranks) {
        for (int repetition = 0; repetition < 3; ++repetition) {
            const std::vector<int> hosts = random_hosts(ranks, random);
            SCOPED_TRACE(testing::Message() << ranks << " ranks, repetition " << repetition);
            test(Rounds(hosts, random()), hosts, static_cast<std::size_t>(ranks * (ranks - 1) / 2));
            for (const double chance : {0.0, 0.1, 0.7}) {
                const Pairs pairs = some_pairs(ranks, chance, random);
                SCOPED_TRACE(testing::Message() << "a list of " << pairs.size() << " pairs");
                test(TurnList(hosts, pairs, random()), hosts, pairs.size());
            }
        }
    }
}

TEST(AnOrder, HoldsEveryPairOnceAndBothRanksKnowIt) {
    for_many_orders([](const Order& order, const std::vector<int>& hosts, std::size_t pairs) {
        const int ranks = static_cast<int>(hosts.size());
        std::map<std::pair<int, int>, int> seen;
        const auto turns = all_turns(order, ranks);
        for (int rank = 0; rank < ranks; ++rank) {
            for (const Turn& turn : turns[static_cast<std::size_t>(rank)]) {
                ASSERT_NE(turn.initiator, turn.responder);
                ASSERT_TRUE(turn.initiator == rank || turn.responder == rank);
                const int other = turn.initiator == rank ? turn.responder : turn.initiator;
                const auto& others = turns[static_cast<std::size_t>(other)];
                ASSERT_NE(std::find(others.begin(), others.end(), turn), others.end());
                ++seen[std::minmax(turn.initiator, turn.responder)];
            }
        }
        EXPECT_EQ(seen.size(), pairs);
        for (const auto& [pair, times] : seen) EXPECT_EQ(times, 2) << pair.first << ' ' << pair.second;
    });
}

TEST(AnOrder, GivesEachHostOnePairAtATime) {
    for_many_orders([](const Order& order, const std::vector<int>& hosts, std::size_t) {
        const int ranks = static_cast<int>(hosts.size());
        std::set<std::pair<int, std::int64_t>> busy;
        for (int rank = 0; rank < ranks; ++rank) {
            std::int64_t previous = -1;
            for (const Turn& turn : order.turns(rank, 0, order.steps())) {
                EXPECT_GT(turn.step, previous);
                EXPECT_LT(turn.step, order.steps());
                previous = turn.step;
                if (turn.initiator != rank) continue;
                for (const int host : std::set<int>{hosts[static_cast<std::size_t>(turn.initiator)],
                                                    hosts[static_cast<std::size_t>(turn.responder)]}) {
                    EXPECT_TRUE(busy.emplace(host, turn.step).second)
                        << "host " << host << ", step " << turn.step;
                }
            }
        }
    });
}

TEST(AnOrder, GivesTheSameTurnsInPiecesAsInOne) {
    for_many_orders([](const Order& order, const std::vector<int>& hosts, std::size_t) {
        for (int rank = 0; rank < static_cast<int>(hosts.size()); ++rank) {
            std::vector<Turn> pieces;
            for (std::int64_t first = 0; first < order.steps(); first += 7) {
                const auto piece = order.turns(rank, first, std::min(first + 7, order.steps()));
                pieces.insert(pieces.end(), piece.begin(), piece.end());
            }
            EXPECT_EQ(pieces, order.turns(rank, 0, order.steps()));
        }
    });
}

TEST(AnOrder, KnowsTheNeighboursOfEachTurnOnItsHosts) {
    for_many_orders([](const Order& order, const std::vector<int>& hosts, std::size_t) {
        std::map<int, std::map<std::int64_t, Turn>> by_host;
        for (int rank = 0; rank < static_cast<int>(hosts.size()); ++rank) {
            for (const Turn& turn : order.turns(rank, 0, order.steps())) {
                by_host[hosts[static_cast<std::size_t>(rank)]][turn.step] = turn;
            }
        }
        const auto by_step = [](const Turn& a, const Turn& b) {
            return std::pair(a.step, a.initiator) < std::pair(b.step, b.initiator);
        };
        std::map<std::pair<std::int64_t, int>, std::set<Turn, decltype(by_step)>> before;
        std::map<std::pair<std::int64_t, int>, std::set<Turn, decltype(by_step)>> after;
        for (const auto& [host, turns] : by_host) {
            for (auto turn = turns.begin(); turn != turns.end(); ++turn) {
                const auto next = std::next(turn);
                if (next == turns.end()) continue;
                after[{turn->first, turn->second.initiator}].insert(next->second);
                before[{next->first, next->second.initiator}].insert(turn->second);
            }
        }
        for (const auto& [host, turns] : by_host) {
            for (const auto& [step, turn] : turns) {
                const auto found_before = order.before(turn);
                const auto found_after = order.after(turn);
                const auto expected_before = before[{step, turn.initiator}];
                const auto expected_after = after[{step, turn.initiator}];
                ASSERT_EQ(found_before.size(), expected_before.size());
                ASSERT_EQ(found_after.size(), expected_after.size());
                for (const Turn& one : found_before) EXPECT_TRUE(expected_before.contains(one));
                for (const Turn& one : found_after) EXPECT_TRUE(expected_after.contains(one));
            }
        }
    });
}

TEST(Rounds, ShareTheTimingAmongTheRanks) {
    const std::vector<int> hosts(most_ranks, 0);
    const Rounds rounds(hosts, 1);
    for (int rank = 0; rank < most_ranks; ++rank) {
        const auto turns = rounds.turns(rank, 0, rounds.steps());
        const auto times = std::count_if(turns.begin(), turns.end(),
                                         [&](const Turn& turn) { return turn.initiator == rank; });
        EXPECT_GT(times, most_ranks / 5) << "rank " << rank;
        EXPECT_LT(times, most_ranks * 4 / 5) << "rank " << rank;
    }
}

TEST(Rounds, FollowTheSeedAlone) {
    const std::vector<int> hosts = {0, 0, 1, 1, 2, 2, 2};
    const std::vector<int> renamed = {7, 7, 3, 3, 9, 9, 9};
    EXPECT_EQ(all_turns(Rounds(hosts, 5), 7), all_turns(Rounds(renamed, 5), 7));
    EXPECT_NE(all_turns(Rounds(hosts, 5), 7), all_turns(Rounds(hosts, 6), 7));
}

TEST(AList, LosesNoTimeWhereHostsAreFree) {
    // Five hosts of two ranks each: a perfect matching of four of them takes one step.
    const std::vector<int> hosts = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4};
    EXPECT_EQ(TurnList(hosts, {{0, 2}, {4, 6}}, 1).steps(), 1);
    EXPECT_EQ(TurnList(hosts, {{0, 2}, {1, 4}}, 1).steps(), 2);
    EXPECT_EQ(TurnList(hosts, {}, 1).steps(), 0);
}

TEST(AList, IsInRandomOrderThatFollowsTheSeed) {
    const std::vector<int> hosts(most_ranks, 0);
    std::mt19937_64 random(1);
    const Pairs pairs = some_pairs(most_ranks, 1.0, random);
    EXPECT_EQ(all_turns(TurnList(hosts, pairs, 5), most_ranks),
              all_turns(TurnList(hosts, pairs, 5), most_ranks));
    EXPECT_NE(all_turns(TurnList(hosts, pairs, 5), most_ranks),
              all_turns(TurnList(hosts, pairs, 6), most_ranks));
}

}  // namespace
}  // namespace isochrone::tests
