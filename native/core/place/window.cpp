// SPDX-License-Identifier: BSD-3-Clause
#include "place/window.hpp"

#include <algorithm>
#include <cmath>

#include "plogp/rendezvous.hpp"

namespace isochrone::core::place {

int window(const Layout& layout, std::int64_t segment_bytes) {
    if (segment_bytes <= 0) return least_window;
    double needed = least_window;
    for (std::size_t level = 0; level < layout.links.size(); ++level) {
        // No two ranks meet outside the innermost level that holds them all.
        const bool inner_holds_all =
            level + 1 < layout.group_of.size() &&
            std::all_of(layout.group_of[level + 1].begin(), layout.group_of[level + 1].end(),
                        [&](int group) { return group == layout.group_of[level + 1][0]; });
        const double busy_s = plogp::Rendezvous(layout.links[level]).busy_s(segment_bytes);
        if (inner_holds_all || busy_s <= 0) continue;
        needed = std::max(needed, std::ceil(1 + 4 * layout.links[level].latency_s / busy_s));
    }
    return static_cast<int>(std::min<double>(needed, largest_window));
}

}  // namespace isochrone::core::place
