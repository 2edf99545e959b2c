/* SPDX-License-Identifier: BSD-3-Clause
 * calls KIND N: so many broadcasts of 8 bytes ("bcast") or barriers ("barrier"); "init": how long MPI_Init took on
 * rank 0, in seconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../clock.h"

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    double begin = now();
    MPI_Init(&argc, &argv);
    double end = now();
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && strcmp(argv[1], "init") == 0) printf("%.6f\n", end - begin);
    double value = 1;
    for (int i = atoi(argv[2]); i > 0; i--) {
        if (strcmp(argv[1], "bcast") == 0)
            MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        else
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
