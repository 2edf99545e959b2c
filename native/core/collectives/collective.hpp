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
    std::int64_t total = 0;    ///< length of the message, or of a block where all have the same
    std::int64_t segment = 0;  ///< 0: not segmented
    bool in_place = false;     ///< MPI_IN_PLACE, where MPI has it
    /// Where blocks have lengths of their own: of each rank's block, or, in an exchange, [source * size +
    /// destination].
    std::vector<std::int64_t> lengths = {};
    bool uneven = false;     ///< blocks have, in turn, half of `total`, all of it, and half as much again
    bool scattered = false;  ///< the blocks of the output do not follow one another

    /// Length of the block that goes from one rank to another.
    [[nodiscard]] std::int64_t length(int source, int destination) const;
};

/// What a rank's input or output is.
enum class Holds : std::uint8_t {
    nothing,
    message,     ///< one message, of which all ranks have one, or are to have it
    own_block,   ///< a block of its own
    all_blocks,  ///< a block for each rank, or of each
};

/// What all ranks know of the sizes alike.
enum class Agreed : std::uint8_t {
    message,  ///< the length of the message
    block,    ///< the length of every block, which is the same
    blocks,   ///< the length of each block
    nothing,  ///< each its own
};

/// A collective follows the tree in three phases: up, in each group from its parts to their leader, innermost
/// first; across, among the parts of the outermost group; and down the same way. A table each; nullptr: it
/// has no such phase, but it has one of up and down. Flat recipes are all across.
struct Collective {
    std::string_view name;   ///< in plans and work files: "bcast"
    std::string_view words;  ///< in a sentence: "broadcast"
    bool rooted = false;
    bool reduces = false;
    bool has_data = true;  ///< without: messages are empty
    Holds input = Holds::nothing;
    Holds output = Holds::message;
    Agreed agreed = Agreed::message;
    algorithms::Table (*up)() = nullptr;
    algorithms::Table (*across)() = nullptr;
    algorithms::Table (*down)() = nullptr;
    /// What each rank has before, and must have after; without sizes, see claims().
    std::vector<prove::Claim> (*contents)(const Question& question) = nullptr;
    bool idempotent = false;   ///< it is all one how often an operand is combined
    bool in_order = false;     ///< operands are combined in the order of ranks, whatever the operation
    bool skips_first = false;  ///< the first rank gets nothing, and may have no output

    /// Whether a rank has an input, and an output. In rooted collectives what is of all ranks is the root's.
    [[nodiscard]] bool has_input(bool is_root) const {
        return input != Holds::nothing && (!rooted || input != Holds::all_blocks || is_root);
    }
    [[nodiscard]] bool has_output(bool is_root) const {
        return !rooted || is_root || (!reduces && output != Holds::all_blocks);
    }
    /// Whether ranks have blocks, and not one message.
    [[nodiscard]] bool has_blocks() const {
        return input == Holds::all_blocks || output == Holds::all_blocks;
    }
    /// Whether every rank has blocks for all.
    [[nodiscard]] bool is_exchange() const {
        return input == Holds::all_blocks && output == Holds::all_blocks;
    }
    /// Whether its blocks may differ in length.
    [[nodiscard]] bool has_uneven_blocks() const { return has_blocks() && agreed != Agreed::block; }
    /// The size by which a plan's rule is found for a call of this size: 0 where ranks know none alike.
    [[nodiscard]] std::int64_t agreed_bytes(std::int64_t bytes) const {
        return agreed == Agreed::nothing ? 0 : bytes;
    }
    /// Whether an algorithm of its tables is for any lengths that its blocks may have: a table may serve the
    /// collective of equal blocks and that of others.
    [[nodiscard]] bool has_lengths_for(const algorithms::Algorithm& row) const {
        return !row.equal_only || agreed == Agreed::block;
    }
};

/// The length of the block that `rank` has of, or for, another one, in its input or its output.
[[nodiscard]] std::int64_t block_length(const Collective& collective, const Question& question, int rank,
                                        int other, bool is_input);

/// The sizes of a call on one rank, as its schedule wants them. Of blocks that are all alike there is one
/// count; of others those of the input come first, then those of the output, as far as the rank has them.
[[nodiscard]] schedule::Extents extents(const Collective& collective, const Question& question, int rank);

/// What a collective promises to a call, of each rank.
[[nodiscard]] std::vector<prove::Claim> claims(const Collective& collective, const Question& question);

[[nodiscard]] std::span<const Collective> all();

/// The row of that name, or nullptr.
[[nodiscard]] const Collective* find(std::string_view name);

/// The row of that name. Throws std::invalid_argument, in one line, if there is none.
[[nodiscard]] const Collective& named(std::string_view name);

}  // namespace isochrone::core::collectives
