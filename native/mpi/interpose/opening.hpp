// SPDX-License-Identifier: BSD-3-Clause
//
// What a session knows of the machine when it begins: the plan, where the ranks are, and how far apart.
#pragma once

#include <mpi.h>

#include <string>

#include "interpose/agreement.hpp"
#include "place/layout.hpp"
#include "select/plan.hpp"

namespace isochrone::mpi::interpose {

/// Reads the plan that was agreed on, and finds the ranks in its topology; without a survey their tree is
/// that of the hardware. Returns why the plan does not hold, or nothing.
[[nodiscard]] std::string take_plan(const Agreement& agreement, core::select::Plan& plan,
                                    core::place::Layout& world);

/// How far hosts are apart, if recipes of the plan make use of it and a fabric's server knows. On rank 0.
[[nodiscard]] std::string ask_for_delays(const Agreement& agreement, const core::select::Plan& plan);

/// Without a survey: a few round trips between first ranks of nodes tell which nodes are near each other, as
/// at one switch, and more of the links between them than their class does. Nodes that are near to one node
/// are taken for near each other, so that few pairs are measured: the first node and all others, or the last,
/// if none is nearer to the first than others; and then the first node of each further switch and those that
/// are at none yet. If that takes more than a second, switches are left out. Collective over `comm`, in which
/// this is number `rank`. Throws comm::Error.
void measure_links(MPI_Comm comm, int rank, core::place::Layout& world);

}  // namespace isochrone::mpi::interpose
