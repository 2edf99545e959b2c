/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One collective of all ranks. */
#include <mpi.h>

int main(int argc, char **argv) {
    int value = 1;
    MPI_Init(&argc, &argv);
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
