// SPDX-License-Identifier: BSD-3-Clause
//
// What the preloaded library is told through environment variables and files, and what it finds loaded beside
// it.
#pragma once

#include <cstdint>
#include <string>

#include "select/plan.hpp"
#include "topology/topology.hpp"

namespace isochrone::mpi::interpose {

/// In which calls it may be tried what is faster, so that by and by calls run differently.
enum class Trials : std::uint8_t {
    off,
    on,   ///< whose results are the same to the last bit, whatever runs
    all,  ///< also reductions of floating-point numbers
};

/// What the variables of the environment name and ask for, each here by its own name.
struct Inputs {
    std::string plan;       ///< text; empty: no plan was given
    std::string topology;   ///< text
    std::string complaint;  ///< if a file that was named cannot be read, or a variable is neither on nor off
    std::string only;       ///< which recipes are to run, see select/only.hpp; empty: all
    std::string
        fabric;  ///< the address of its server, see core/place/fabric_server.hpp; empty: none is asked
    bool unsurveyed = false;  ///< without a plan, the tree is that of the hardware
    bool explain = false;
    bool check = false;         ///< whether ranks compare what they ask for before each collective
    bool reproducible = false;  ///< whether reductions run in one order
    bool summary = false;       ///< whether rank 0 says at the end what ran
    Trials trials = Trials::on;
    std::string learn;  ///< the folder for what was found live; empty: it is not kept
};

[[nodiscard]] Inputs read_inputs();

/// Their names, as they were given; empty: none was.
[[nodiscard]] std::string plan_name();
[[nodiscard]] std::string topology_name();

/// From now on these take the place of what ISOCHRONE_PLAN and ISOCHRONE_TOPOLOGY name.
void name_files(std::string plan, std::string topology);

/// Throws std::invalid_argument, in one line, if the plan was made for another topology, MPI library or ABI
/// than are here.
void check_belongs(const core::select::Plan& plan, const core::topology::Topology& topology);

/// Whether a runtime of a GPU is loaded in this process: then a buffer may be memory that the processor
/// cannot touch.
[[nodiscard]] bool gpu_runtime_is_loaded();

/// Whether ISOCHRONE_PLAN is set, or a plan was named, or none is needed.
[[nodiscard]] bool plan_is_asked_for();

}  // namespace isochrone::mpi::interpose
