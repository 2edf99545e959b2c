// SPDX-License-Identifier: BSD-3-Clause
//
// Pairs that a probe is to measure, and the turns that an order gives them.
#pragma once

#include <random>
#include <utility>
#include <vector>

#include "probe/order.hpp"

namespace isochrone::tests {

using Pairs = std::vector<std::pair<int, int>>;

inline constexpr int most_ranks = 40;

/// The turns of all ranks, by rank.
inline std::vector<std::vector<mpi::probe::Turn>> all_turns(const mpi::probe::Order& order, int ranks) {
    std::vector<std::vector<mpi::probe::Turn>> turns;
    for (int rank = 0; rank < ranks; ++rank) turns.push_back(order.turns(rank, 0, order.steps()));
    return turns;
}

/// Each pair of so many ranks with that chance.
inline Pairs some_pairs(int ranks, double chance, std::mt19937_64& random) {
    Pairs pairs;
    for (int low = 0; low < ranks; ++low) {
        for (int high = low + 1; high < ranks; ++high) {
            if (std::uniform_real_distribution<>()(random) < chance) pairs.emplace_back(low, high);
        }
    }
    return pairs;
}

}  // namespace isochrone::tests
