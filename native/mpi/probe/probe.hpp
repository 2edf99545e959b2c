// SPDX-License-Identifier: BSD-3-Clause
//
// isochrone-probe from command line to exit code.
#pragma once

#include <mpi.h>

namespace isochrone::mpi::probe {

/// Collective over `comm`, with the same arguments on all ranks; returns the same exit code on all.
[[nodiscard]] int run(MPI_Comm comm, int argc, char** argv);

}  // namespace isochrone::mpi::probe
