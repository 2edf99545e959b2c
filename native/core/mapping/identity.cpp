// SPDX-License-Identifier: BSD-3-Clause
//
// Tasks in their order, as launchers do by themselves: each place gets one task where there are places
// enough, and its share of the room otherwise.
#include <numeric>

#include "mapping/optimiser.hpp"

namespace isochrone::core::mapping {

Assignment identity(const Problem& problem, const Search& /*search*/) {
    const Places& places = problem.places;
    std::vector<std::int64_t> room = places.capacities();
    const std::int64_t all = std::accumulate(room.begin(), room.end(), std::int64_t{0});
    const auto& fixed = problem.graph.fixed;
    Assignment at(fixed);
    std::int64_t tasks = 0;
    for (const int place : fixed) {
        if (place < 0) {
            ++tasks;
        } else {
            --room[static_cast<std::size_t>(place)];
        }
    }
    const bool shares = static_cast<std::int64_t>(fixed.size()) > places.count();
    std::int64_t before = 0, placed = 0;
    std::size_t v = 0;
    // Up to each place as many as its share of all room says; a second walk fills what the fixed ones left.
    for (int walk = 0; walk < 2; ++walk) {
        before = 0;
        for (int p = 0; p < places.count(); ++p) {
            auto& left = room[static_cast<std::size_t>(p)];
            before += places.capacity(p);
            const bool is_last_walk = walk == 1;
            while (left > 0 && placed < tasks && (is_last_walk || !shares || placed * all < before * tasks)) {
                while (at[v] >= 0) ++v;
                at[v] = p;
                --left;
                ++placed;
            }
        }
    }
    return at;
}

}  // namespace isochrone::core::mapping
