// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "compose/recipe.hpp"
#include "place/layout.hpp"
#include "select/plan.hpp"

namespace isochrone::core::select {

struct Choice {
    compose::Recipe recipe;  ///< fits the layout; native unless a rule says otherwise
    std::string reason;      ///< in words, one line, for ISOCHRONE_EXPLAIN
};

/// What the plan says for a broadcast of `size_bytes` from `root`. It depends only on what is equal on all
/// ranks, so all choose alike. Never fails on account of the plan: a recipe that does not fit the layout
/// gives native, and says why. Throws std::invalid_argument if root is not a rank of the layout.
[[nodiscard]] Choice choose(const Plan& plan, const place::Layout& layout, int root, std::int64_t size_bytes);

}  // namespace isochrone::core::select
