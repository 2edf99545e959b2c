// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "collectives/collective.hpp"
#include "compose/recipe.hpp"
#include "place/layout.hpp"
#include "select/plan.hpp"

namespace isochrone::core::select {

struct Choice {
    compose::Recipe recipe;      ///< fits the layout; native unless it is known to be faster
    std::string reason;          ///< in words, one line, for ISOCHRONE_EXPLAIN
    Basis basis = Basis::none;   ///< predicted: the library's own runs, until a trial shows what is faster
    const Rule* rule = nullptr;  ///< of the plan, for this shape, order and size; nullptr: there is none
    double speedup = 0;          ///< over the library's own, as measured; interpolated: the lesser of two
    std::int64_t min_bytes = 0;  ///< the same holds from this agreed size
    std::int64_t max_bytes = 0;  ///< ... to this, inclusive
};

/// The shape that a plan's rules for a collective name: where it has a root, with what there is to say of
/// that.
[[nodiscard]] std::string shape_for(const collectives::Collective& collective, const place::Layout& layout,
                                    int root);

/// Whether a collective combines operands in the one order of a reproducible plan, so that no rule counts.
[[nodiscard]] bool has_one_order(const Plan& plan, const collectives::Collective& collective);

/// The sizes among which a trial makes no difference: from a power of two to below the next.
struct SizeClass {
    std::int64_t min_bytes = 0;
    std::int64_t max_bytes = 0;  ///< inclusive
};
[[nodiscard]] SizeClass size_class(std::int64_t bytes);

/// What the plan says for a collective of `size_bytes`; `root` is 0 where it has none. `in_order`: operands
/// have to be combined in rank order. It depends only on what is equal on all ranks, so all choose alike.
///
/// Where the plan has no rule: a recipe with which two measured shapes around this one agree at this size,
/// the nearest two around it; else the library's own, and what is faster has to be predicted.
///
/// Never fails on account of the plan: a recipe that does not fit the layout gives native, and says why.
/// Throws std::invalid_argument if root is not a rank of the layout.
[[nodiscard]] Choice choose(const Plan& plan, const collectives::Collective& collective,
                            const place::Layout& layout, int root, std::int64_t size_bytes,
                            bool in_order = false);

}  // namespace isochrone::core::select
