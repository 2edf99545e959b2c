// SPDX-License-Identifier: BSD-3-Clause
//
// From the words of a recipe to the rows of a collective's tables and the levels of a layout.
#pragma once

#include <vector>

#include "collectives/collective.hpp"
#include "compose/recipe.hpp"
#include "place/layout.hpp"

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

}  // namespace isochrone::core::compose
