// SPDX-License-Identifier: BSD-3-Clause
//
// How many bytes a call is about.
#pragma once

#include <cstdint>

#include "interpose/call.hpp"

namespace isochrone::mpi::record {

/// Of so many elements. An empty message may be of no type at all. Throws comm::Error.
[[nodiscard]] std::int64_t bytes_of(std::int64_t count, preload::Word type);

/// Of one of the blocks of one side of a call.
[[nodiscard]] std::int64_t block_bytes(const interpose::Part& part, int index, bool large);

/// Of a collective that knows its size alike everywhere: bytes of the message, of each block, or of all
/// blocks where they differ. The same on all ranks.
[[nodiscard]] std::int64_t agreed_bytes(const interpose::Call& call, int size);

}  // namespace isochrone::mpi::record
