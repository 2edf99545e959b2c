// SPDX-License-Identifier: BSD-3-Clause
//
// What a program asks for, as its call came in. Nothing here knows the MPI library: the program may turn out
// to be another library's, whose handles are of another width.
#pragma once

#include <cstdint>

#include "collectives/collective.hpp"
#include "preload/word.hpp"

namespace isochrone::mpi::interpose {

using preload::Word;

/// Sizes and type of one side of a call that moves blocks.
struct Part {
    std::int64_t count = 0;  ///< of every block, where they are alike
    Word type = 0;
    const void* counts = nullptr;         ///< of each, else: ints, or 64 bits in calls with large counts
    const void* displacements = nullptr;  ///< alike; nullptr: blocks follow one another
    const void* types = nullptr;  ///< of each, as the library's own handles; displacements are bytes then
};

/// A collective; what it has not is left out.
struct Call {
    const core::collectives::Collective* collective = nullptr;
    const void* input = nullptr;
    void* output = nullptr;  ///< or the only buffer
    std::int64_t count = 0;
    Word type = 0;
    Word op = 0;
    int root = 0;
    Word comm = 0;
    Part send = {};  ///< of blocks; reductions: of what is combined, and received
    Part receive = {};
    bool large = false;  ///< arrays are of 64 bits
};

/// A call that the library's own does, and of which something is to be known afterwards.
struct Unfinished {
    void* kind = nullptr;  ///< of the session's; nullptr: nothing is to be known
    void* handle = nullptr;
    std::int64_t begin_ns = 0;
};

}  // namespace isochrone::mpi::interpose
