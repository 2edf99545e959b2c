// SPDX-License-Identifier: BSD-3-Clause
//
// Recipes that may be faster than the library's own where nothing was measured, for the model to choose from
// while a program runs: few, in contrast to those among which tuning searches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/collective.hpp"
#include "compose/recipe.hpp"
#include "place/layout.hpp"
#include "select/plan.hpp"

namespace isochrone::core::select {

/// The more likely ones come first.
struct Candidates {
    std::vector<compose::Recipe> recipes;
    std::vector<double> took;  ///< of each: of its price, where the plan has proven it; 0: not known
    std::size_t proven = 0;    ///< the first so many the plan has proven on other shapes, or in another order
};

/// Those that the plan has proven for the collective at a similar size on any shape, then some of each row of
/// its tables: on all levels that divide the ranks, and in the order of the tree; large messages in segments
/// of several sizes. All fit the layout.
[[nodiscard]] Candidates candidates(const Plan& plan, const collectives::Collective& collective,
                                    const place::Layout& layout, std::int64_t size_bytes,
                                    bool in_order = false);

/// Orders them so that there is one of each segment size in turn, for whoever prices few of them, and wants
/// to choose between segment sizes. Those come first all the same of which it is known what they took, and no
/// others count as proven.
void alternate_segments(Candidates& candidates);

}  // namespace isochrone::core::select
