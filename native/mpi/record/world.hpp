// SPDX-License-Identifier: BSD-3-Clause
//
// The ranks of a program, as who records them sees them.
#pragma once

#include <mpi.h>

#include <vector>

#include "comm/check.hpp"
#include "comm/place.hpp"
#include "comm/world.hpp"

namespace isochrone::mpi::record {

/// Made by all ranks of MPI_COMM_WORLD together. Throws comm::Error.
struct World {
    int rank = comm::rank_in(MPI_COMM_WORLD);
    int size = comm::size_of(MPI_COMM_WORLD);
    MPI_Comm comm = comm::own_world();  ///< for what is gathered
    std::vector<comm::Place> places = comm::gather_places(comm);
    bool threads = comm::threads_may_call();  ///< whether several may call at once
};

}  // namespace isochrone::mpi::record
