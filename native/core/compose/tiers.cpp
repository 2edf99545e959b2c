// SPDX-License-Identifier: BSD-3-Clause
#include "compose/tiers.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace isochrone::core::compose {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

int leader_of(const std::vector<int>& part, int root, Leader others) {
    if (std::binary_search(part.begin(), part.end(), root)) return root;
    return others == Leader::lowest ? part.front() : part.back();
}

/// Divides ranks by their group, or into single ranks if there is none. Parts are in the order of their first
/// ranks.
std::vector<std::vector<int>> divide(const std::vector<int>& ranks, const std::vector<int>* group_of) {
    std::vector<std::vector<int>> parts;
    if (group_of == nullptr) {
        for (const int rank : ranks) parts.push_back({rank});
        return parts;
    }
    std::map<int, std::size_t> part_of;
    for (const int rank : ranks) {
        const auto [entry, is_new] = part_of.try_emplace((*group_of)[at(rank)], parts.size());
        if (is_new) parts.emplace_back();
        parts[entry->second].push_back(rank);
    }
    return parts;
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
        tier.group.parts = divide(ranks, next);
        const int head = leader_of(ranks, root, others);
        bool leads = false;
        std::vector<int> mine;
        for (const auto& part : tier.group.parts) {
            const int leader = leader_of(part, root, others);
            const int position = static_cast<int>(tier.group.ranks.size());
            if (leader == head) tier.group.root = position;
            if (leader == rank) {
                tier.group.me = position;
                leads = true;
            }
            if (std::binary_search(part.begin(), part.end(), rank)) mine = part;
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
