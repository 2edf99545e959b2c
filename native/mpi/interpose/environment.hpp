// SPDX-License-Identifier: BSD-3-Clause
//
// What the preloaded library is told through environment variables and files, and what it finds loaded beside
// it.
#pragma once

#include <mpi.h>

#include <string>

#include "select/plan.hpp"
#include "topology/topology.hpp"

namespace isochrone::mpi::interpose {

/// Read by rank 0 from ISOCHRONE_PLAN, ISOCHRONE_TOPOLOGY and ISOCHRONE_EXPLAIN; the same on all ranks.
struct Inputs {
    std::string plan;       ///< text; empty: no plan was given
    std::string topology;   ///< text
    std::string complaint;  ///< one line, if a file that was named cannot be read
    bool explain = false;
};

/// Collective.
[[nodiscard]] Inputs read_inputs(MPI_Comm comm);

/// Throws std::invalid_argument, in one line, if the plan was made for another topology, MPI library or ABI
/// than are here.
void check_belongs(const core::select::Plan& plan, const core::topology::Topology& topology);

/// Whether a runtime of a GPU is loaded in this process: then a buffer may be memory that the processor
/// cannot touch.
[[nodiscard]] bool gpu_runtime_is_loaded();

/// Whether this is rank 0, as far as the launcher's variables tell; where they do not, it is. For what is to
/// be said while MPI cannot be asked.
[[nodiscard]] bool is_rank_0_of_launcher();

/// Whether ISOCHRONE_PLAN is set.
[[nodiscard]] bool plan_is_asked_for();

/// Whether a plan is asked for and Open MPI's Fortran bindings are loaded in this process. They call MPI by
/// its PMPI names: a preload sees neither their MPI_Init nor their collectives.
[[nodiscard]] bool fortran_goes_around();

/// How many MPI libraries are loaded in this process. More than one: this library and the program were built
/// for different ones, and nothing can be said about the handles that are passed.
[[nodiscard]] int loaded_mpi_libraries();

}  // namespace isochrone::mpi::interpose
