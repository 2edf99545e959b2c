// SPDX-License-Identifier: BSD-3-Clause
//
// ISOCHRONE_CHECK=1: whether the ranks of a collective ask for the same.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

namespace isochrone::mpi::interpose {

/// What one rank asks for: what has to be equal on all.
struct Asked {
    static constexpr std::int64_t invalid = -1;  ///< bytes of what the library would refuse

    std::int64_t collective = 0;  ///< number in the table
    std::int64_t bytes = 0;
    std::int64_t root = 0;
    std::int64_t op = 0;  ///< number of a predefined operation; other: one of the program's own

    friend bool operator==(const Asked&, const Asked&) = default;
};

/// Collective over `comm`. The first rank that differs from most of the others, and how, in one line; empty
/// where all ask for the same. The same on all ranks. Throws comm::Error.
[[nodiscard]] std::string compare(const Asked& mine, MPI_Comm comm, int size);

}  // namespace isochrone::mpi::interpose
