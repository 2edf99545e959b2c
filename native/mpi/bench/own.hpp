// SPDX-License-Identifier: BSD-3-Clause
//
// The MPI library's own function of each collective, and what its algorithms are called: a row for each.
#pragma once

#include <mpi.h>

#include <span>
#include <string>
#include <string_view>

#include "bench/operands.hpp"
#include "collectives/collective.hpp"

namespace isochrone::mpi::bench {

/// What one call is given. What a collective has no use for is not looked at.
struct Arguments {
    const void* input = nullptr;
    void* output = nullptr;
    int count = 0;
    MPI_Datatype type = MPI_BYTE;
    MPI_Op op = MPI_OP_NULL;
    int root = 0;
    const Blocks* input_blocks = nullptr;
    const Blocks* output_blocks = nullptr;
};

/// The library's own of one collective. The names of control variables follow from that of the collective.
struct Own {
    std::string_view collective;
    const char* function;
    int (*call)(const Arguments& with, MPI_Comm comm);
    /// Of MPICH, 4.0 and later: its control variables have no enumeration, but their descriptions have these.
    std::span<const std::string_view> mpich_names;
    void (*tell_simgrid)(const std::string& name);
    /// SimGrid's algorithm where a selector chooses one that refuses the number of ranks; nullptr: none does.
    const char* simgrid_for_any = nullptr;
    /// Of Open MPI's `tuned`: those that its own decisions send in segments (coll_tuned_decision_fixed.c of
    /// 4.0), except those that are right for operations that commute alone, which its rules must not name.
    std::span<const std::string_view> openmpi_segmented = {};
};

/// Throws std::invalid_argument if nothing is known of the collective.
[[nodiscard]] const Own& own(const core::collectives::Collective& collective);

}  // namespace isochrone::mpi::bench
