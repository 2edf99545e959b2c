// SPDX-License-Identifier: BSD-3-Clause
//
// What an algorithm is, and the tables of all of them: one table per collective, one row per algorithm.
// Whoever needs to know what exists (recipes, tests, tuning, `isochrone info`, the documentation) walks the
// tables.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "algorithms/group.hpp"
#include "schedule/builder.hpp"

namespace isochrone::core::algorithms {

/// Appends to the builder what this rank does in the group. `parameter` is the number behind the name in a
/// recipe.
using Append = void (*)(schedule::Builder& builder, const Group& group, int parameter);

/// A row of a table of algorithms that work in one group of ranks, knowing nothing of topology.
struct Algorithm {
    std::string_view name;
    std::string_view words;  ///< what a sentence calls it: "a binomial tree"
    std::string_view good_for;
    std::string_view source;           ///< the paper, and its section
    int default_parameter = 0;         ///< 0: the algorithm takes none
    std::int64_t default_segment = 0;  ///< bytes; 0: not segmented unless the recipe says so
    Append append = nullptr;
    std::array<int, 4> tuned{};       ///< parameters that tuning tries; zeros, or none at all: its default
    bool quadratic_messages = false;  ///< messages grow with the square of the group: nothing for large ones
};

/// Ends in the output buffer of every rank of the group holding what the output buffer of its root held.
[[nodiscard]] std::span<const Algorithm> bcast_table();

/// The row of that name, or nullptr.
[[nodiscard]] const Algorithm* find(std::span<const Algorithm> table, std::string_view name);

}  // namespace isochrone::core::algorithms
