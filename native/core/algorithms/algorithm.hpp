// SPDX-License-Identifier: BSD-3-Clause
//
// What an algorithm is, and the tables of all of them: one table per collective, one row per algorithm.
// Whoever needs to know what exists (recipes, tests, tuning, `isochrone info`, the documentation) walks the
// tables.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "algorithms/blocks.hpp"
#include "algorithms/group.hpp"
#include "algorithms/passage.hpp"
#include "algorithms/trees/tree.hpp"
#include "schedule/builder.hpp"

namespace isochrone::core::algorithms {

/// What an algorithm works on. It names no buffer of the caller's: the same algorithm runs among ranks, and
/// among the leaders of nodes or racks on what these have come to.
struct Data {
    int value = schedule::output_buffer;   ///< the buffer that holds what this member has so far
    int result = schedule::output_buffer;  ///< the buffer in which it is to have more; -1: none yet
    bool in_order = false;                 ///< reductions: operands are combined in the order of the members
    int before = -1;       ///< scans: the buffer for what the members before this one had; -1: not wanted
    bool with_own = true;  ///< scans: `value` is to end with what the members up to this one had
    Blocks blocks;         ///< how `value` and `result` are divided, where each rank has a block of them
    Passage passage;       ///< gathers and scatters: the way of the blocks through this rank
    Pairs leaving;         ///< exchanges: what this member has for the others
    Pairs entering;        ///< ... and what it is to have from them

    /// `result`; a temporary is made where there is none.
    int writable(schedule::Builder& builder) {
        if (result < 0) result = builder.scratch();
        return result;
    }
    /// Brings what this member has to where it is to be.
    void settle(schedule::Builder& builder) {
        if (value == writable(builder)) return;
        builder.copy(builder.whole(value), builder.whole(result));
        value = result;
    }
};

/// Appends to the builder what this rank does in the group. `parameter` is the number behind the name in a
/// recipe.
using Append = void (*)(schedule::Builder& builder, const Group& group, Data& data, int parameter);

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
    bool commutative_only = false;    ///< reductions: combines operands in an order of its own
    bool equal_only = false;          ///< exchanges: all blocks have to have the same length
    trees::Tree tree = nullptr;       ///< a tree along which it runs that may be laid over the network
};

using Table = std::span<const Algorithm>;

/// All members end with what the root had.
[[nodiscard]] Table bcast_table();
/// The root ends with what all had, combined. The values of the others are undefined then. In order only
/// where the root is the first member.
[[nodiscard]] Table reduce_table();
/// All members end with what all had, combined, and with the same bits.
[[nodiscard]] Table allreduce_table();
/// Nobody ends before all have begun. As an allreduce of nothing, by an operation to which it is all one how
/// often an operand is combined.
[[nodiscard]] Table barrier_table();

/// The way of each member's blocks to the root, or from it, is in the passage.
[[nodiscard]] Table gather_table();
[[nodiscard]] Table scatter_table();
/// `value` has the blocks of the ranks that this member stands for; all members end with those of all.
[[nodiscard]] Table allgather_table();
/// `value` ends with what all had, combined, in the blocks of the ranks that this member stands for.
[[nodiscard]] Table reduce_scatter_table();
/// Each member ends with what the others had for it.
[[nodiscard]] Table alltoall_table();
/// Each member ends with what those up to it had, combined in the order of positions, whoever is the root: in
/// `value` with its own, in `before` without it, as far as they are wanted. The first has nothing before it.
[[nodiscard]] Table scan_table();

/// The row of that name, or nullptr.
[[nodiscard]] const Algorithm* find(Table table, std::string_view name);

}  // namespace isochrone::core::algorithms
