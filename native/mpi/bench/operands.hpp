// SPDX-License-Identifier: BSD-3-Clause
//
// What one call of a collective needs on one rank: which memory, how much of it, and what its elements are.
// All that is timed and checked is derived from this, whatever the collective.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/work.hpp"

namespace isochrone::mpi::bench {

/// What a rank gives or gets, in elements: blocks that follow one another in memory, or one message.
struct Blocks {
    std::int64_t length = 0;
    std::vector<int> counts = {};
    std::vector<int> displacements = {};
};

struct Operands {
    bool has_input = false;         ///< what this rank gives is apart from what it gets
    bool has_output = false;        ///< this rank gets something, or gives it where others get it
    std::int64_t input_bytes = 0;   ///< 0 without an input
    std::int64_t output_bytes = 0;  ///< 0 without an output
    std::int64_t element_bytes = 1;
    MPI_Datatype type = MPI_BYTE;
    MPI_Op op = MPI_OP_NULL;
    std::int64_t count = 0;              ///< of elements in the message, or in a block
    core::schedule::Extents sizes = {};  ///< of the call, in elements
    Blocks input = {};
    Blocks output = {};
};

/// What `rank` of `size` needs for a call. Where blocks may differ, they do: their mean is about the case's
/// size, 1.25 times that among two ranks.
/// Reductions add whole numbers, which come out the same in any order: of 64 bits where the size is a
/// multiple of theirs, else of 8 bits.
[[nodiscard]] Operands operands_of(const Case& one, int rank, int size);

}  // namespace isochrone::mpi::bench
