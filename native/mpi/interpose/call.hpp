// SPDX-License-Identifier: BSD-3-Clause
//
// What a program asks for, as its call came in. Nothing here knows the MPI library: the program may turn out
// to be another library's, whose handles are of another width.
#pragma once

#include <cstdint>

#include "collectives/collective.hpp"

namespace isochrone::mpi::interpose {

/// An MPI handle, or an int in its place, in the width that holds both.
using Word = std::uintptr_t;

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
};

}  // namespace isochrone::mpi::interpose
