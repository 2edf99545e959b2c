// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/collective.hpp"
#include "compose/recipe.hpp"
#include "compose/resolve.hpp"
#include "place/layout.hpp"
#include "schedule/extents.hpp"
#include "schedule/schedule.hpp"
#include "simulate/simulate.hpp"

namespace isochrone::core::simulate {

/// Prices a collective of `size_bytes`, of the message or of each rank's block, by a recipe; `root` is 0
/// where it has none. Throws std::invalid_argument, in one line, for `native` (what the library does is not
/// known, so it has no price), for a recipe that does not fit the layout, for a root or size out of range,
/// for more segments than can be simulated, and for more operations than the timeline is to hold.
[[nodiscard]] Outcome predict(const collectives::Collective& collective, const compose::Recipe& recipe,
                              const place::Layout& layout, int root, std::int64_t size_bytes,
                              const Options& options = {});
/// ... by one that was resolved for this layout.
[[nodiscard]] Outcome predict(const compose::Resolved& resolved, const place::Layout& layout, int root,
                              std::int64_t size_bytes, const Options& options = {});

/// What all ranks do in it, for simulate(). Throws as predict() does.
struct Composed {
    std::vector<schedule::Schedule> schedules;  ///< [rank]
    std::vector<schedule::Extents> extents;     ///< [rank]
};
[[nodiscard]] Composed composed(const compose::Resolved& resolved, const place::Layout& layout, int root,
                                std::int64_t size_bytes, const Options& options = {});

/// How many messages all ranks send, one for each segment; where the library's own takes part inside groups,
/// in each of these one for each rank other than its root.
[[nodiscard]] std::int64_t messages(const Composed& composed, const place::Layout& layout);

}  // namespace isochrone::core::simulate
