/* SPDX-License-Identifier: BSD-3-Clause
 * calls KIND N: so many broadcasts of 8 bytes ("bcast") or barriers ("barrier"). */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    MPI_Init(&argc, &argv);
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
