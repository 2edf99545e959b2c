// SPDX-License-Identifier: BSD-3-Clause
#include "compose/allreduce.hpp"

#include <algorithm>

#include "compose/tiers.hpp"
#include "schedule/builder.hpp"

namespace isochrone::core::compose {
namespace {

namespace trees = algorithms::trees;
using schedule::Slice;

/// A partial result: the combination of the contributions of ranks first .. last, all of them and in that
/// order. Where the order is free, one run stands for whatever has been combined.
struct Run {
    int first;
    int last;
    Slice data;
};

/// The runs that the contributions of these ranks (ascending) combine to.
std::vector<std::pair<int, int>> runs_of(const std::vector<int>& ranks, bool commutative) {
    if (commutative) return {{ranks.front(), ranks.back()}};
    std::vector<std::pair<int, int>> runs;
    for (const int rank : ranks) {
        if (!runs.empty() && runs.back().second + 1 == rank) {
            runs.back().second = rank;
        } else {
            runs.emplace_back(rank, rank);
        }
    }
    return runs;
}

/// Combines what can be combined. The result of two neighbours is where the right one was.
void combine(schedule::Builder& builder, std::vector<Run>& runs, bool commutative) {
    if (commutative) {
        std::rotate(runs.begin(), runs.begin() + 1,
                    runs.end());  // the own run last: it is where the result belongs
    } else {
        std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.first < b.first; });
    }
    std::vector<Run> combined;
    for (const Run& run : runs) {
        if (!combined.empty() && (commutative || combined.back().last + 1 == run.first)) {
            builder.reduce(combined.back().data, run.data);
            combined.back() = {combined.back().first, run.last, run.data};
        } else {
            combined.push_back(run);
        }
    }
    runs = std::move(combined);
}

}  // namespace

schedule::Schedule hierarchical_allreduce(const place::Layout& layout, const std::vector<int>& levels,
                                          const std::vector<trees::Tree>& trees, bool commutative,
                                          bool segmented, int rank) {
    constexpr int root = 0;
    schedule::Builder builder(layout.size, rank);
    builder.stage(segmented);
    const auto my_tiers = tiers(layout, levels, rank, root);
    const auto tree_of = [&](const Tier& tier) {
        const auto level = std::find(levels.begin(), levels.end(), tier.level);
        return trees[static_cast<std::size_t>(level - levels.begin())];
    };
    const Slice output = builder.whole(schedule::output_buffer);
    builder.copy(builder.whole(schedule::input_buffer), output);
    std::vector<Run> runs{{rank, rank, output}};
    for (auto tier = my_tiers.rbegin(); tier != my_tiers.rend(); ++tier) {
        const auto tree = tree_of(*tier);
        const trees::Node node = tree(tier->group.size(), tier->group.relative(), 0);
        for (const int child : node.children) {
            for (const auto& [first, last] : runs_of(ranks_below(*tier, tree, child), commutative)) {
                runs.push_back({first, last, builder.whole(builder.scratch())});
                builder.recv(tier->group.rank_at(child), runs.back().data);
            }
        }
        combine(builder, runs, commutative);
        if (node.parent >= 0) {
            for (const Run& run : runs) builder.send(tier->group.rank_at(node.parent), run.data);
        }
    }
    if (rank == root && runs.front().data.buffer != schedule::output_buffer)
        builder.copy(runs.front().data, output);
    for (const Tier& tier : my_tiers) {
        const trees::Node node = tree_of(tier)(tier.group.size(), tier.group.relative(), 0);
        if (node.parent >= 0) builder.recv(tier.group.rank_at(node.parent), output);
        for (const int child : node.children) builder.send(tier.group.rank_at(child), output);
    }
    return builder.finish();
}

}  // namespace isochrone::core::compose
