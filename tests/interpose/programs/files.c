/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A file of MPI's, written and read by all ranks at once: the MPI library broadcasts and frees communicators of its own by the names that begin with PMPI.
 * Argument: its name.
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, size, wrong = 0, wrong_on_all = 0, written[100], found[100];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 5; round++) {
        MPI_File file;
        MPI_Comm copy;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        int key = rank == 0 ? 1000 * round : -1;
        MPI_Bcast(&key, 1, MPI_INT, 0, copy);
        MPI_File_open(copy, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
        MPI_Comm_free(&copy);
        for (int i = 0; i < 100; i++) written[i] = key + 100 * rank + i;
        MPI_File_write_at_all(file, (MPI_Offset)sizeof written * rank, written, 100, MPI_INT, MPI_STATUS_IGNORE);
        MPI_File_sync(file);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_File_sync(file);
        const int next = (rank + 1) % size;
        MPI_File_read_at_all(file, (MPI_Offset)sizeof found * next, found, 100, MPI_INT, MPI_STATUS_IGNORE);
        for (int i = 0; i < 100; i++) wrong += found[i] != key + 100 * next + i;
        MPI_File_close(&file);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Reduce(&wrong, &wrong_on_all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d wrong values\n", wrong_on_all);
    MPI_Finalize();
    return 0;
}
