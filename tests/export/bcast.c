/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One collective of all ranks, of as many bytes as its argument says. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    const int bytes = argc > 1 ? atoi(argv[1]) : 4;
    char *message = calloc(bytes, 1);
    MPI_Init(&argc, &argv);
    MPI_Bcast(message, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    free(message);
    return 0;
}
