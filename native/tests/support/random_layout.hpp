// SPDX-License-Identifier: BSD-3-Clause
//
// Random clusters for tests.
#pragma once

#include <random>

#include "compose/tiers.hpp"
#include "place/layout.hpp"

namespace isochrone::tests {

/// Ranks in random groups of random levels ("machine", "level-1", ...), in random rank order.
inline core::place::Layout random_layout(int size, int depth, std::mt19937_64& random) {
    core::place::Layout layout;
    layout.size = size;
    const auto add = [&](const std::string& name, std::vector<int> groups) {
        layout.levels.push_back(name);
        layout.group_of.push_back(std::move(groups));
        layout.links.push_back({.latency_s = 1e-6,
                                .send_overhead_s = {{{0, 1e-7}}},
                                .receive_overhead_s = {{{0, 1e-7}}},
                                .gap_s = {{{0, 1e-7}, {1000000, 1e-4}}}});
    };
    add("machine", std::vector<int>(static_cast<std::size_t>(size), 0));
    for (int l = 1; l < depth; ++l) {
        const auto& outer = layout.group_of.back();
        const int parts = 1 + static_cast<int>(random() % 4);
        std::vector<int> groups;
        for (const int group : outer) {
            groups.push_back(group * 4 + static_cast<int>(random() % static_cast<unsigned>(parts)));
        }
        add("level-" + std::to_string(l), std::move(groups));
    }
    return layout;
}

/// ... numbered so that every group is a run of consecutive ranks.
inline core::place::Layout random_layout_of_runs(int size, int depth, std::mt19937_64& random) {
    const auto layout = random_layout(size, depth, random);
    return layout.restricted_to(core::compose::tree_order(layout, 0));
}

}  // namespace isochrone::tests
