// SPDX-License-Identifier: BSD-3-Clause
//
// From a recipe to the schedule of one rank, for any collective. Flat algorithms come from the tables;
// hierarchical(...) runs one of them at each level among the leaders, in the collective's phases:
//
//   up      inside each node, then inside each rack: to the leader
//   across  among the racks
//   down    inside each rack, then inside each node: from the leader
//
// A scan keeps on each rank what the way up leaves there, and combines it with what comes down: all that the
// ranks before the group had. Where a rank leads others, what it keeps is without its own part.
//
// All phases are one segmented stage, so segments flow from level to level without a barrier.
#pragma once

#include "collectives/collective.hpp"
#include "compose/recipe.hpp"
#include "place/layout.hpp"
#include "schedule/schedule.hpp"

namespace isochrone::core::compose {

/// An algorithm and its parameter; nullptr: the MPI library's own.
struct Setting {
    const algorithms::Algorithm* algorithm = nullptr;
    int parameter = 0;
};

/// What a recipe means for one communicator, checked once: a schedule of any rank and root follows without
/// error.
struct Resolved {
    const collectives::Collective* collective = nullptr;
    Recipe recipe;              ///< with the segment that its algorithms ask for
    bool in_order = false;      ///< operands are combined in rank order
    std::vector<int> levels;    ///< hierarchical: index in the layout of each part's level
    std::vector<Setting> up;    ///< of each part: on the way to the leader, or across at the outermost
    std::vector<Setting> down;  ///< of each part: on the way from the leader

    /// Whether the library's own takes part inside groups of the innermost level.
    [[nodiscard]] bool has_library_inside() const {
        return !recipe.parts.empty() && recipe.parts.back().choice.algorithm == native_name;
    }
};

/// Checks a recipe against the tables of a collective and a layout. Throws std::invalid_argument, in one
/// line, if an algorithm or level is not known, levels are out of order, the first does not hold all ranks,
/// blocks that are not one message are to go in segments, `native` stands at a level other than the innermost
/// named one (the library's own works on fixed groups; the leaders of outer levels depend on the root) or in
/// a phase up, an algorithm has no tree to lay over the network, or operands cannot be combined in rank order
/// where `in_order` asks for it.
[[nodiscard]] Resolved resolve(const collectives::Collective& collective, const Recipe& recipe,
                               const place::Layout& layout, bool in_order = false);

/// What `rank` does. `root`: 0 where the collective has none. `in_place`: MPI_IN_PLACE is given, on the root
/// in rooted collectives. Not for native recipes.
[[nodiscard]] schedule::Schedule schedule_of(const Resolved& resolved, const place::Layout& layout, int rank,
                                             int root, bool in_place = false);

}  // namespace isochrone::core::compose
