// SPDX-License-Identifier: BSD-3-Clause
//
// The communicator that the program gets in the place of MPI_COMM_WORLD: the same ranks in another order.
//
// No MPI header here, see interpose/call.hpp.
#pragma once

#include <atomic>

#include "preload/word.hpp"

namespace isochrone::mpi::reorder {

using preload::Word;

/// What no handle is.
inline constexpr Word none = ~Word{0};

/// The library's handle of MPI_COMM_WORLD while another is given in its place; else `none`.
inline std::atomic<Word> replaced = none;
/// That other.
inline std::atomic<Word> permuted = 0;
/// What of a word is a handle: callers leave anything above one that is an int.
inline std::atomic<Word> handle_bits = none;

/// The communicator that the program means.
[[nodiscard]] inline Word meant(Word comm) {
    const bool is_world =
        (comm & handle_bits.load(std::memory_order_relaxed)) == replaced.load(std::memory_order_acquire);
    return is_world ? permuted.load(std::memory_order_relaxed) : comm;
}

/// Whether that is an attribute of its own that MPI gives its world for good.
[[nodiscard]] bool is_predefined(Word key) noexcept;

/// After the program has started MPI. Collective over MPI_COMM_WORLD.
void started() noexcept;

}  // namespace isochrone::mpi::reorder
