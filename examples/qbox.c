// SPDX-License-Identifier: BSD-3-Clause
//
// Communicates as plane-wave codes such as Qbox do. Ranks form a grid of ROWS x COLUMNS, column after column
// (Gygi et al., "Large-Scale First-Principles Molecular Dynamics simulations on the BlueGene/L Platform using
// the Qbox code", SC 2005). In each step all ranks of a row exchange blocks with one another, and then add
// something up along their column.
//
//   mpicc -O2 qbox.c -o qbox
//   mpiexec -n 24 ./qbox ROWS COLUMNS [STEPS [BLOCK [SUM [WORK]]]]
//
// ROWS x COLUMNS is the number of ranks. STEPS: 10 if not given. BLOCK: doubles to each rank of the row
// (4000). SUM: doubles that are added up (100). WORK: microseconds that a rank computes in each step (0).
// Rank 0 prints the seconds of the loop on the slowest rank, and a checksum, a line each. The checksum does
// not depend on where the ranks run.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1 << 27 };

/// The word as a whole number from `least` to MOST, the default where there is none, -1 where it is something
/// else.
static int number(int argc, char** argv, int at, int least, int otherwise) {
    if (at >= argc) return otherwise;
    char* end;
    const long value = strtol(argv[at], &end, 10);
    return *argv[at] == '\0' || *end != '\0' || value < least || value > MOST ? -1 : (int)value;
}

/// Keeps the processor busy. Simulators that know no computing are told of it.
static void work(int microseconds) {
#ifdef SMPI_H
    smpi_execute(1e-6 * microseconds);
#else
    const double end = MPI_Wtime() + 1e-6 * microseconds;
    while (MPI_Wtime() < end) {
    }
#endif
}

int main(int argc, char** argv) {
    int ranks, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int rows = number(argc, argv, 1, 1, -1);
    const int columns = number(argc, argv, 2, 1, -1);
    const int steps = number(argc, argv, 3, 1, 10);
    const int block = number(argc, argv, 4, 1, 4000);
    const int sum = number(argc, argv, 5, 1, 100);
    const int busy = number(argc, argv, 6, 0, 0);
    if (argc > 7 || rows < 1 || columns < 1 || (long)rows * columns != ranks || steps < 1 || block < 1 ||
        sum < 1 || busy < 0) {
        if (rank == 0) {
            fprintf(stderr,
                    "usage: qbox ROWS COLUMNS [STEPS [BLOCK [SUM [WORK]]]], whole numbers up to %d, and ROWS x "
                    "COLUMNS ranks\n",
                    MOST);
        }
        MPI_Finalize();
        return 2;
    }
    MPI_Comm row, column;
    MPI_Comm_split(MPI_COMM_WORLD, rank % rows, rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank / rows, rank, &column);
    const size_t blocks = (size_t)columns * (size_t)block;
    double* sent = malloc(blocks * sizeof(double));
    double* received = malloc(blocks * sizeof(double));
    double* mine = calloc((size_t)sum, sizeof(double));
    double* all = calloc((size_t)sum, sizeof(double));
    if (sent == NULL || received == NULL || mine == NULL || all == NULL) {
        fprintf(stderr, "qbox: rank %d has too little memory\n", rank);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (size_t i = 0; i < blocks; ++i) sent[i] = rank;
    double checksum = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int step = 0; step < steps; ++step) {
        work(busy);
        MPI_Alltoall(sent, block, MPI_DOUBLE, received, block, MPI_DOUBLE, row);
        mine[0] = received[blocks - 1] + step;
        MPI_Allreduce(mine, all, sum, MPI_DOUBLE, MPI_SUM, column);
        checksum += all[0];
    }
    double took = MPI_Wtime() - begin, slowest = 0, total = 0;
    MPI_Reduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&checksum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%.9f s\nchecksum %.0f\n", slowest, total);
    free(sent);
    free(received);
    free(mine);
    free(all);
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
    MPI_Finalize();
    return 0;
}
