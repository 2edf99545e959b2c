// SPDX-License-Identifier: BSD-3-Clause
//
// What a program asks for, as its call came in. Nothing here knows the MPI library: the program may turn out
// to be another library's, whose handles are of another width.
#pragma once

#include <cstdint>

namespace isochrone::mpi::interpose {

/// An MPI handle, or an int in its place, in the width that holds both.
using Word = std::uintptr_t;

/// A broadcast.
struct Call {
    void* buffer;
    std::int64_t count;
    Word type;
    int root;
    Word comm;
};

}  // namespace isochrone::mpi::interpose
