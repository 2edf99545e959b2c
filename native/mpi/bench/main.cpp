// SPDX-License-Identifier: BSD-3-Clause
#include "bench/bench.hpp"
#include "comm/program.hpp"

int main(int argc, char** argv) {
    return isochrone::mpi::comm::run_program("isochrone-bench", argc, argv, [&](MPI_Comm comm) {
        return isochrone::mpi::bench::run(comm, argc, argv);
    });
}
