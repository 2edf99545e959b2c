// SPDX-License-Identifier: BSD-3-Clause
//
// What the preloaded library is told through environment variables and files, and what it finds loaded beside
// it.
#pragma once

#include <string>

#include "select/plan.hpp"
#include "topology/topology.hpp"

namespace isochrone::mpi::interpose {

/// What ISOCHRONE_PLAN and ISOCHRONE_TOPOLOGY name, and what ISOCHRONE_EXPLAIN and ISOCHRONE_CHECK ask for.
struct Inputs {
    std::string plan;       ///< text; empty: no plan was given
    std::string topology;   ///< text
    std::string complaint;  ///< one line, if a file that was named cannot be read
    bool explain = false;
    bool check = false;  ///< whether ranks compare what they ask for before each collective
};

[[nodiscard]] Inputs read_inputs();

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

/// Whether the MPI library of this program has the handles that this preload was built for. May be asked at
/// any time.
[[nodiscard]] bool is_of_this_library();

/// In one line, on rank 0.
void say_that_library_is_another();

}  // namespace isochrone::mpi::interpose
