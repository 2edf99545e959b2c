// SPDX-License-Identifier: BSD-3-Clause
//
// Rules of made-up plans, and the hosts that they are for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compose/recipe.hpp"
#include "place/layout.hpp"
#include "select/plan.hpp"

namespace isochrone::tests {

inline core::select::Rule rule(const std::string& shape, const std::string& recipe,
                               std::int64_t min_bytes = 1, std::int64_t max_bytes = 1 << 20,
                               double speedup = 2, const std::string& order = "") {
    return {{.recipe = core::compose::parse_recipe(recipe), .speedup = speedup},
            "bcast",
            shape,
            min_bytes,
            max_bytes,
            core::select::Basis::measured,
            order};
}

inline core::select::Plan plan_of(std::vector<core::select::Rule> rules) {
    core::select::Plan plan;
    plan.rules = std::move(rules);
    std::sort(plan.rules.begin(), plan.rules.end(), [](const auto& a, const auto& b) {
        return std::tie(a.shape, a.order, a.min_bytes) < std::tie(b.shape, b.order, b.min_bytes);
    });
    return plan;
}

/// `per_node` ranks on each of some nodes.
inline core::place::Layout nodes(int count, int per_node, bool cyclic = false) {
    core::place::Layout layout{count * per_node, {"machine", "node"}, {{}, {}}, {}};
    const core::plogp::Parameters links{.latency_s = 1e-5,
                                        .send_overhead_s = {{{0, 1e-7}}},
                                        .receive_overhead_s = {{{0, 1e-7}}},
                                        .gap_s = {{{0, 1e-7}, {1000000, 1e-3}}}};
    layout.links = {links, links};
    for (int rank = 0; rank < layout.size; ++rank) {
        layout.group_of[0].push_back(0);
        layout.group_of[1].push_back(cyclic ? rank % count : rank / per_node);
    }
    return layout;
}

inline std::string shape(int count, int per_node) { return core::place::shape(nodes(count, per_node), 0); }

}  // namespace isochrone::tests
