// SPDX-License-Identifier: BSD-3-Clause
//
// isochrone-bench: times collectives by different recipes, all in one run and in turn.
#pragma once

#include <mpi.h>

namespace isochrone::mpi::bench {

/// Collective over `comm`. Returns the exit code, the same on all ranks.
int run(MPI_Comm comm, int argc, char** argv);

}  // namespace isochrone::mpi::bench
