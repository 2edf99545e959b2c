/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Broadcasts from C and from Fortran in one program. Arguments: which of "c" and "fortran" starts MPI, and which ends it.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

void fortran_start(void);
void fortran_end(void);
int fortran_broadcast(int value, int root);

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    if (strcmp(argv[1], "c") == 0) {
        MPI_Init(&argc, &argv);
    } else {
        fortran_start();
    }
    int rank, sum = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 5; i++) {
        int value = rank == i % 2 ? 10 + i : 0;
        MPI_Bcast(&value, 1, MPI_INT, i % 2, MPI_COMM_WORLD);
        sum += value + fortran_broadcast(rank == 1 ? 100 * i : 0, 1);
    }
    if (rank == 1) {
        MPI_Send(&sum, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    } else {
        int other = 0;
        MPI_Recv(&other, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%d %d\n", sum, other);
    }
    if (strcmp(argv[2], "c") == 0) {
        MPI_Finalize();
    } else {
        fortran_end();
    }
    return 0;
}
