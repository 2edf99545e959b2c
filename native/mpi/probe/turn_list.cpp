// SPDX-License-Identifier: BSD-3-Clause
#include "probe/turn_list.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <random>

#include "probe/random.hpp"

namespace isochrone::mpi::probe {

namespace {

/// The first turn at that step or later.
std::vector<Turn>::const_iterator from_step(const std::vector<Turn>& turns, std::int64_t step) {
    return std::lower_bound(turns.begin(), turns.end(), step,
                            [](const Turn& turn, std::int64_t least) { return turn.step < least; });
}

void add_once(std::vector<Turn>& turns, const Turn& turn) {
    if (std::find(turns.begin(), turns.end(), turn) == turns.end()) turns.push_back(turn);
}

}  // namespace

TurnList::TurnList(std::vector<int> host_of_rank, std::vector<std::pair<int, int>> pairs, std::uint64_t seed)
    : host_(std::move(host_of_rank)) {
    const int hosts = host_.empty() ? 0 : *std::max_element(host_.begin(), host_.end()) + 1;
    of_host_.resize(static_cast<std::size_t>(hosts));
    std::vector<std::int64_t> next_step(of_host_.size(), 0);
    std::mt19937_64 random(seed);
    shuffle(pairs, random);
    for (const auto& [low, high] : pairs) {
        const auto one = static_cast<std::size_t>(host_[static_cast<std::size_t>(low)]);
        const auto other = static_cast<std::size_t>(host_[static_cast<std::size_t>(high)]);
        const std::int64_t step = std::max(next_step[one], next_step[other]);
        const bool first = coin(seed, low, high);
        const Turn turn{step, first ? low : high, first ? high : low};
        of_host_[one].push_back(turn);
        if (other != one) of_host_[other].push_back(turn);
        next_step[one] = next_step[other] = step + 1;
        steps_ = std::max(steps_, step + 1);
    }
}

std::vector<Turn> TurnList::turns(int rank, std::int64_t first, std::int64_t last) const {
    const std::vector<Turn>& mine = of_host_of(rank);
    std::vector<Turn> result;
    std::copy_if(from_step(mine, first), from_step(mine, last), std::back_inserter(result),
                 [rank](const Turn& turn) { return turn.initiator == rank || turn.responder == rank; });
    return result;
}

std::vector<Turn> TurnList::before(const Turn& turn) const {
    std::vector<Turn> result;
    for (const int rank : {turn.initiator, turn.responder}) {
        const std::vector<Turn>& turns = of_host_of(rank);
        const auto here = from_step(turns, turn.step);
        if (here != turns.begin()) add_once(result, *std::prev(here));
    }
    return result;
}

std::vector<Turn> TurnList::after(const Turn& turn) const {
    std::vector<Turn> result;
    for (const int rank : {turn.initiator, turn.responder}) {
        const std::vector<Turn>& turns = of_host_of(rank);
        const auto next = from_step(turns, turn.step + 1);
        if (next != turns.end()) add_once(result, *next);
    }
    return result;
}

const std::vector<Turn>& TurnList::of_host_of(int rank) const {
    return of_host_[static_cast<std::size_t>(host_[static_cast<std::size_t>(rank)])];
}

}  // namespace isochrone::mpi::probe
