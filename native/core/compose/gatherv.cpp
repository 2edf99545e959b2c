// SPDX-License-Identifier: BSD-3-Clause
#include "compose/gatherv.hpp"

#include <algorithm>
#include <numeric>

#include "compose/tiers.hpp"
#include "schedule/builder.hpp"

namespace isochrone::core::compose {
namespace {

namespace trees = algorithms::trees;

struct Child {
    int rank;
    std::vector<int> below;  ///< the ranks whose blocks it sends, ascending: the order in which they travel
};

/// Where each of `ranks` stands in the ascending list `all`.
std::vector<int> positions(const std::vector<int>& all, const std::vector<int>& ranks) {
    std::vector<int> result;
    for (const int rank : ranks) {
        result.push_back(static_cast<int>(std::lower_bound(all.begin(), all.end(), rank) - all.begin()));
    }
    return result;
}

}  // namespace

schedule::Schedule hierarchical_gatherv(const place::Layout& layout, const std::vector<int>& levels,
                                        const std::vector<trees::Tree>& trees, int rank, int root) {
    std::vector<Child> children;
    int parent = -1;
    const auto my_tiers = tiers(layout, levels, rank, root);
    for (auto tier = my_tiers.rbegin(); tier != my_tiers.rend(); ++tier) {
        const auto level = std::find(levels.begin(), levels.end(), tier->level);
        const auto tree = trees[static_cast<std::size_t>(level - levels.begin())];
        const trees::Node node = tree(tier->group.size(), tier->group.relative(), 0);
        for (const int child : node.children) {
            children.push_back({tier->group.rank_at(child), ranks_below(*tier, tree, child)});
        }
        if (node.parent >= 0) parent = tier->group.rank_at(node.parent);
    }
    std::vector<int> mine{rank};
    for (const Child& child : children) mine.insert(mine.end(), child.below.begin(), child.below.end());
    std::sort(mine.begin(), mine.end());

    schedule::Builder builder(layout.size, rank);
    const int own_partition = builder.counted(builder.counts({0}));
    const auto own = builder.blocks(schedule::input_buffer, own_partition, 0);
    if (rank == root) {
        std::vector<int> known(static_cast<std::size_t>(layout.size));
        std::iota(known.begin(), known.end(), 1);
        const int partition = builder.counted(builder.counts(known));
        for (const Child& child : children) {
            builder.recv(child.rank, builder.blocks(schedule::output_buffer, partition, child.below));
        }
        builder.copy(own, builder.blocks(schedule::output_buffer, partition, rank));
        return builder.finish();
    }
    std::vector<int> learned(mine.size(), -1);
    learned[static_cast<std::size_t>(positions(mine, {rank}).front())] = 0;
    const int table = builder.counts(learned);
    for (const Child& child : children)
        builder.recv(child.rank, builder.entries(table, positions(mine, child.below)));
    if (parent != root) builder.send(parent, builder.entries(table, positions(mine, mine)));
    if (children.empty()) {
        builder.send(parent, own);
        return builder.finish();
    }
    const int partition = builder.counted(table);
    const int passing = builder.scratch_counted(partition);
    builder.copy(own, builder.blocks(passing, partition, positions(mine, {rank})));
    for (const Child& child : children) {
        builder.recv(child.rank, builder.blocks(passing, partition, positions(mine, child.below)));
    }
    builder.send(parent, builder.blocks(passing, partition, positions(mine, mine)));
    return builder.finish();
}

}  // namespace isochrone::core::compose
