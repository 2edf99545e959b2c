// SPDX-License-Identifier: BSD-3-Clause
#include "executor/tags.hpp"

#include <mpi.h>

#include "comm/check.hpp"

namespace isochrone::mpi::executor {

int largest_tag() {
    int* value = nullptr;
    int found = 0;
    comm::check(PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&value), &found),
                "MPI_Comm_get_attr");
    return found != 0 ? *value : 32767;
}

}  // namespace isochrone::mpi::executor
