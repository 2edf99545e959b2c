// SPDX-License-Identifier: BSD-3-Clause
//
// How the data of one element of a datatype lie in memory.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>

namespace isochrone::mpi::interpose {

/// Bytes one after the other.
struct Block {
    std::int64_t begin = 0;  ///< from the element's address
    std::int64_t size = 0;
};

/// The bytes of one element, if they lie one after the other in the order of the type map; nothing where they
/// do not, or where the library does not tell how a type was made. `type` must be valid. Throws comm::Error.
[[nodiscard]] std::optional<Block> one_block(MPI_Datatype type);

}  // namespace isochrone::mpi::interpose
