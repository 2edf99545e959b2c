// SPDX-License-Identifier: BSD-3-Clause
//
// What a collective is, and the table of all of them: one row each. Whoever needs to know what exists walks
// the table. What a row promises, its claim, drives the proofs and what is compared with the MPI library's
// own.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "prove/prove.hpp"

namespace isochrone::core::collectives {

/// One call, as far as the claim depends on it. Sizes are in units: bytes, or elements of a reduction.
struct Question {
    int size = 1;
    int root = 0;
    std::int64_t total = 0;    ///< length of the message
    std::int64_t segment = 0;  ///< 0: not segmented
    bool in_place = false;     ///< MPI_IN_PLACE, where MPI has it
};

/// A collective follows the tree in three phases: up, in each group from its parts to their leader, innermost
/// first; across, among the parts of the outermost group; and down the same way. A table each; nullptr: it
/// has no such phase. Flat recipes are all across.
struct Collective {
    std::string_view name;   ///< in plans and work files: "bcast"
    std::string_view words;  ///< in a sentence: "broadcast"
    bool rooted = false;
    bool reduces = false;
    bool has_data = true;  ///< all ranks know its size alike; without: messages are empty
    algorithms::Table (*up)() = nullptr;
    algorithms::Table (*across)() = nullptr;
    algorithms::Table (*down)() = nullptr;
    /// What each rank has before, and must have after.
    std::vector<prove::Claim> (*claims)(const Question& question) = nullptr;
    bool idempotent = false;  ///< it is all one how often an operand is combined
};

[[nodiscard]] std::span<const Collective> all();

/// The row of that name, or nullptr.
[[nodiscard]] const Collective* find(std::string_view name);

/// The row of that name. Throws std::invalid_argument, in one line, if there is none.
[[nodiscard]] const Collective& named(std::string_view name);

}  // namespace isochrone::core::collectives
