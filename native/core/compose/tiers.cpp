// SPDX-License-Identifier: BSD-3-Clause
#include "compose/tiers.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <utility>

namespace isochrone::core::compose {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

int leader_of(std::span<const int> part, int root, Leader others) {
    if (std::binary_search(part.begin(), part.end(), root)) return root;
    return others == Leader::lowest ? part.front() : part.back();
}

/// Divides ranks by their group, or into single ranks if there is none. Parts are in the order of their first
/// ranks.
algorithms::Parts divide(std::vector<int> ranks, const std::vector<int>* group_of) {
    if (group_of == nullptr) return algorithms::Parts::single(std::move(ranks));
    std::map<int, std::size_t> number_of;
    std::vector<std::size_t> part_of;
    part_of.reserve(ranks.size());
    int before = -1;
    for (const int rank : ranks) {
        const int group = (*group_of)[at(rank)];
        // Most ranks are in the group of the one before.
        part_of.push_back(!part_of.empty() && group == before
                              ? part_of.back()
                              : number_of.try_emplace(group, number_of.size()).first->second);
        before = group;
    }
    return algorithms::Parts::divided(ranks, part_of, number_of.size());
}

}  // namespace

std::vector<Tier> tiers(const place::Layout& layout, const std::vector<int>& levels, int rank, int root,
                        Leader others) {
    std::vector<Tier> result;
    std::vector<int> ranks(at(layout.size));
    std::iota(ranks.begin(), ranks.end(), 0);
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const auto* next = i + 1 < levels.size() ? &layout.group_of[at(levels[i + 1])] : nullptr;
        Tier tier;
        tier.level = levels[i];
        const int head = leader_of(ranks, root, others);
        tier.group.parts = divide(std::move(ranks), next);
        bool leads = false;
        std::vector<int> mine;
        for (std::size_t number = 0; number < tier.group.parts.size(); ++number) {
            const auto part = tier.group.parts[number];
            const int leader = leader_of(part, root, others);
            const int position = static_cast<int>(tier.group.ranks.size());
            if (leader == head) tier.group.root = position;
            if (leader == rank) {
                tier.group.me = position;
                leads = true;
            }
            if (std::binary_search(part.begin(), part.end(), rank)) mine.assign(part.begin(), part.end());
            tier.group.ranks.push_back(leader);
        }
        if (leads && tier.group.size() > 1) result.push_back(std::move(tier));
        ranks = std::move(mine);
    }
    return result;
}

std::vector<int> tree_order(const place::Layout& layout, int root) {
    std::vector<int> order(at(layout.size));
    std::iota(order.begin(), order.end(), 0);
    const auto key = [&](int rank) {
        std::vector<int> path;
        for (const auto& group_of : layout.group_of) {
            const int group = group_of[at(rank)];
            path.push_back(group == group_of[at(root)] ? -1 : group);
        }
        path.push_back(rank == root ? -1 : rank);
        return path;
    };
    std::vector<std::vector<int>> keys(order.size());
    for (const int rank : order) keys[at(rank)] = key(rank);
    std::sort(order.begin(), order.end(), [&](int a, int b) { return keys[at(a)] < keys[at(b)]; });
    return order;
}

}  // namespace isochrone::core::compose
