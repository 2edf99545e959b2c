/* SPDX-License-Identifier: BSD-3-Clause
 *
 * choices N [LIBRARY]: N broadcasts of 8 bytes from rank 0. Rank 1 loads the library first, after MPI has started.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rank, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1 && argc > 2 && dlopen(argv[2], RTLD_NOW) == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = atoi(argv[1]); i > 0; i--) {
        double value = rank == 0 ? i : -1;
        MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        wrong += value != i;
    }
    MPI_Finalize();
    if (wrong > 0) printf("rank %d: %d wrong values\n", rank, wrong);
    return 0;
}
