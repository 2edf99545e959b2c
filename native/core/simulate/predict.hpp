// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "collectives/collective.hpp"
#include "compose/recipe.hpp"
#include "compose/resolve.hpp"
#include "place/layout.hpp"
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

/// How many messages all ranks send in that, one for each segment. Throws as predict() does.
[[nodiscard]] std::int64_t messages(const compose::Resolved& resolved, const place::Layout& layout, int root,
                                    std::int64_t size_bytes);

}  // namespace isochrone::core::simulate
