// SPDX-License-Identifier: BSD-3-Clause
//
// From a recipe to the schedule of one rank. Flat algorithms come from the tables; hierarchical(topology,
// recipe) runs one of them at each level among the leaders, segments flowing from level to level without a
// barrier.
#pragma once

#include "compose/recipe.hpp"
#include "place/layout.hpp"
#include "schedule/schedule.hpp"

namespace isochrone::core::compose {

/// What a recipe means for one communicator, checked once: a schedule of any rank and root follows without
/// error.
struct Resolved {
    Recipe recipe;            ///< with the segment that its algorithms ask for
    std::vector<int> levels;  ///< hierarchical: index in the layout of each part's level
};

/// Checks a broadcast recipe against the table and a layout. Throws std::invalid_argument, in one line, if an
/// algorithm or level is not known, levels are out of order, the first does not hold all ranks, or `native`
/// stands at a level other than the innermost named one (the library's own works on fixed groups; the leaders
/// of outer levels depend on the root).
[[nodiscard]] Resolved resolve_bcast(const Recipe& recipe, const place::Layout& layout);

/// What `rank` does in a broadcast from `root`. Not for native recipes.
[[nodiscard]] schedule::Schedule bcast(const Resolved& resolved, const place::Layout& layout, int rank,
                                       int root);

}  // namespace isochrone::core::compose
