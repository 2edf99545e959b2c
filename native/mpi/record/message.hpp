// SPDX-License-Identifier: BSD-3-Clause
//
// What a program sends to one rank, as its call came in. As in interpose/call.hpp nothing here knows the MPI
// library.
#pragma once

#include <cstdint>

#include "preload/word.hpp"

namespace isochrone::mpi::record {

using preload::Word;

/// What goes one way.
struct Leg {
    std::int64_t count = -1;  ///< of elements; -1: nothing goes this way
    Word type = 0;
};

/// A call with one other rank, which is one of a communicator or of a window.
struct Message {
    int peer = 0;
    Word comm = 0;
    Word window = 0;
    Word op = 0;    ///< of one-sided functions that have one
    Leg out = {};   ///< from this rank to the peer
    Leg back = {};  ///< from the peer to this rank
};

}  // namespace isochrone::mpi::record
