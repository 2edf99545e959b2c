// SPDX-License-Identifier: BSD-3-Clause
//
// Links with plain parameters, layouts of them, and schedules written by hand, for tests of the simulator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compose/compose.hpp"
#include "schedule/builder.hpp"
#include "simulate/predict.hpp"
#include "simulate/simulate.hpp"

namespace isochrone::tests {

namespace place = core::place;
namespace plogp = core::plogp;

inline const core::collectives::Collective& bcast = core::collectives::named("bcast");
constexpr double latency_s = 1e-6;
constexpr double send_overhead_s = 2e-7;
constexpr double receive_overhead_s = 3e-7;
constexpr double gap_0_s = 5e-7;
constexpr double s_per_byte = 1e-9;
constexpr double tolerance = 1e-12;  // seconds; times here are microseconds and more

inline double gap_s(std::int64_t size_bytes) {
    return gap_0_s + static_cast<double>(size_bytes) * s_per_byte;
}

inline plogp::Parameters links(double latency = latency_s, double per_byte = s_per_byte,
                               double capacity = 0) {
    return {.latency_s = latency,
            .send_overhead_s = {{{0, send_overhead_s}}},
            .receive_overhead_s = {{{0, receive_overhead_s}}},
            .gap_s = {{{0, gap_0_s}, {1 << 20, gap_0_s + (1 << 20) * per_byte}}},
            .capacity_bytes_per_s = capacity};
}

inline place::Layout one_group(int size) {
    return {size, {"node"}, {std::vector<int>(static_cast<std::size_t>(size), 0)}, {links()}};
}

/// `nodes` nodes of `cores` ranks, in block order. The last level's links are those inside a node.
inline place::Layout nodes_of(int nodes, int cores, double capacity = 0) {
    place::Layout layout{
        nodes * cores, {"machine", "node"}, {{}, {}}, {links(5e-6, s_per_byte, capacity), links()}};
    for (int rank = 0; rank < layout.size; ++rank) {
        layout.group_of[0].push_back(0);
        layout.group_of[1].push_back(rank / cores);
    }
    return layout;
}

inline double price(const std::string& recipe, const place::Layout& layout, std::int64_t size_bytes,
                    int root = 0) {
    return core::simulate::predict(bcast, core::compose::parse_recipe(recipe), layout, root, size_bytes)
        .slowest_s;
}

/// Rank r runs what `write` writes for it, on a message of `size_bytes`.
template <class Write>
core::simulate::Outcome run(const place::Layout& layout, std::int64_t size_bytes, Write&& write) {
    std::vector<core::schedule::Schedule> schedules;
    for (int rank = 0; rank < layout.size; ++rank) {
        core::schedule::Builder builder(layout.size, rank);
        write(builder, rank);
        schedules.push_back(builder.finish());
    }
    const core::schedule::Extents extents{size_bytes, 0, {}, {}, {}};
    return core::simulate::simulate(schedules,
                                    std::vector<core::schedule::Extents>(schedules.size(), extents), layout);
}

}  // namespace isochrone::tests
