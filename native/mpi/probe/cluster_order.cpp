// SPDX-License-Identifier: BSD-3-Clause
#include "probe/cluster_order.hpp"

#include <algorithm>
#include <cstddef>
#include <random>

#include "probe/random.hpp"

namespace isochrone::mpi::probe {

ClusterOrder::ClusterOrder(Clusters clusters, std::vector<std::pair<int, int>> pairs, std::uint64_t seed)
    : clusters_(std::move(clusters)), seed_(seed) {
    const auto count = static_cast<std::size_t>(clusters_.count());
    pairs_.resize(count);
    start_.assign(count, 0);
    std::mt19937_64 random(seed);
    shuffle(pairs, random);
    for (const auto& pair : pairs) {
        const int cluster = clusters_.common(group_of(pair.first), group_of(pair.second));
        pairs_[static_cast<std::size_t>(cluster)].push_back(pair);
    }
    // Those within a cluster have greater numbers.
    for (int cluster = clusters_.count() - 1; cluster >= 0; --cluster) {
        std::int64_t& start = start_[static_cast<std::size_t>(cluster)];
        for (const int part : clusters_.parts(cluster)) {
            start = std::max(start, start_[static_cast<std::size_t>(part)] + length(part));
        }
    }
}

std::vector<Turn> ClusterOrder::turns(int rank, std::int64_t first, std::int64_t last) const {
    std::vector<Turn> result;
    for (int cluster = group_of(rank); cluster >= 0; cluster = clusters_.around(cluster)) {
        const std::int64_t start = start_[static_cast<std::size_t>(cluster)];
        const std::int64_t end = std::min(last - start, length(cluster));
        for (std::int64_t index = std::max<std::int64_t>(first - start, 0); index < end; ++index) {
            const Turn turn = this->turn(cluster, index);
            if (turn.initiator == rank || turn.responder == rank) result.push_back(turn);
        }
    }
    return result;
}

std::vector<Turn> ClusterOrder::before(const Turn& turn) const {
    const auto [cluster, index] = find(turn);
    if (index > 0) return {this->turn(cluster, index - 1)};
    std::vector<Turn> result;
    std::vector<int> within = clusters_.parts(cluster);
    while (!within.empty()) {
        const int part = within.back();
        within.pop_back();
        if (length(part) > 0) {
            result.push_back(this->turn(part, length(part) - 1));
        } else {
            within.insert(within.end(), clusters_.parts(part).begin(), clusters_.parts(part).end());
        }
    }
    return result;
}

std::vector<Turn> ClusterOrder::after(const Turn& turn) const {
    const auto [cluster, index] = find(turn);
    if (index + 1 < length(cluster)) return {this->turn(cluster, index + 1)};
    int outer = clusters_.around(cluster);
    while (outer >= 0 && length(outer) == 0) outer = clusters_.around(outer);
    if (outer < 0) return {};
    return {this->turn(outer, 0)};
}

int ClusterOrder::group_of(int rank) const { return clusters_.groups()[static_cast<std::size_t>(rank)]; }

std::int64_t ClusterOrder::length(int cluster) const {
    return static_cast<std::int64_t>(pairs_[static_cast<std::size_t>(cluster)].size());
}

Turn ClusterOrder::turn(int cluster, std::int64_t index) const {
    const auto at = static_cast<std::size_t>(cluster);
    const auto& [low, high] = pairs_[at][static_cast<std::size_t>(index)];
    const bool first = coin(seed_, low, high);
    return {start_[at] + index, first ? low : high, first ? high : low};
}

std::pair<int, std::int64_t> ClusterOrder::find(const Turn& turn) const {
    const int cluster = clusters_.common(group_of(turn.initiator), group_of(turn.responder));
    return {cluster, turn.step - start_[static_cast<std::size_t>(cluster)]};
}

}  // namespace isochrone::mpi::probe
