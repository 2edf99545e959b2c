/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A broadcast of 3 GiB from rank 1. Rank 0 prints whether it has them.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    const size_t bytes = (size_t)3 << 30;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Datatype three;
    MPI_Type_contiguous(3, MPI_BYTE, &three);
    MPI_Type_commit(&three);
    unsigned char *data = calloc(bytes, 1);
    if (rank == 1) {
        for (size_t i = 0; i < bytes; i += 4093) data[i] = (unsigned char)(1 + i % 251);
    }
    MPI_Bcast(data, 1 << 30, three, 1, MPI_COMM_WORLD);
    size_t wrong = 0;
    for (size_t i = 0; i < bytes; i += 4093) wrong += data[i] != (unsigned char)(1 + i % 251);
    if (rank == 0) printf("%zu wrong values\n", wrong);
    free(data);
    MPI_Type_free(&three);
    MPI_Finalize();
    return 0;
}
