// SPDX-License-Identifier: BSD-3-Clause
#include "comm/program.hpp"
#include "probe/probe.hpp"

int main(int argc, char** argv) {
    return isochrone::mpi::comm::run_program("isochrone-probe", argc, argv, [&](MPI_Comm comm) {
        return isochrone::mpi::probe::run(comm, argc, argv);
    });
}
