// SPDX-License-Identifier: BSD-3-Clause
#include "comm/program.hpp"

#include <cstdio>
#include <exception>

#include "comm/check.hpp"
#include "comm/simgrid.hpp"

namespace isochrone::mpi::comm {

int leave(MPI_Comm comm, const Leave& leave) {
    if (rank_in(comm) == 0) std::fputs(leave.text.c_str(), leave.exit_code == success ? stdout : stderr);
    return leave.exit_code;
}

int run_program(const char* name, int argc, char** argv, const std::function<int(MPI_Comm)>& body) {
    try {
        check(MPI_Init(&argc, &argv), "MPI_Init");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", name, error.what());
        return failure;
    }
    int code = failure;
    try {
#ifdef ISOCHRONE_SMPI
        // SimGrid's own choice may be by nodes. The first of those on a communicator has messages among all
        // pairs of its ranks, and what programs tell their ranks needs none.
        simgrid::smpi::colls::set_bcast("binomial_tree");
#endif
        return_errors(MPI_COMM_WORLD);
        code = body(MPI_COMM_WORLD);
        check(MPI_Finalize(), "MPI_Finalize");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", name, error.what());
        std::fflush(stderr);
        MPI_Abort(MPI_COMM_WORLD, failure);
        return failure;
    }
    return code;
}

}  // namespace isochrone::mpi::comm
