// SPDX-License-Identifier: BSD-3-Clause
#include "comm/world.hpp"

#include "comm/check.hpp"

namespace isochrone::mpi::comm {

MPI_Comm own_world() {
    MPI_Comm comm = MPI_COMM_NULL;
    // A split runs no attribute copy functions of the program's, as a duplicate would.
    check(PMPI_Comm_split(MPI_COMM_WORLD, 0, rank_in(MPI_COMM_WORLD), &comm), "MPI_Comm_split");
    return_errors(comm);
    return comm;
}

bool threads_may_call() {
    int level = MPI_THREAD_SINGLE;
    check(PMPI_Query_thread(&level), "MPI_Query_thread");
    return level == MPI_THREAD_MULTIPLE;
}

}  // namespace isochrone::mpi::comm
