// SPDX-License-Identifier: BSD-3-Clause
//
// Handles of requests, as entries are given them.
#pragma once

#include <mpi.h>

#include "preload/word.hpp"

namespace isochrone::mpi::record {

/// The handle with that index, by which what was said of its request is found again.
[[nodiscard]] inline preload::Word request_word(const void* requests, int index = 0) {
    return preload::word(static_cast<const MPI_Request*>(requests)[index]);
}

}  // namespace isochrone::mpi::record
