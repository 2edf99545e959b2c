// SPDX-License-Identifier: BSD-3-Clause
//
// What libraries inside somebody else's program ask of MPI when it starts.
#pragma once

#include <mpi.h>

namespace isochrone::mpi::comm {

/// A communicator of all ranks for our own messages, whose calls return their errors; left to MPI_Finalize.
/// Collective over the world. Throws Error.
[[nodiscard]] MPI_Comm own_world();

/// Whether several threads may call MPI at once. Throws Error.
[[nodiscard]] bool threads_may_call();

}  // namespace isochrone::mpi::comm
