// SPDX-License-Identifier: BSD-3-Clause
//
// A stencil of five points on a grid of two dimensions, as simulations of heat, waves and flow have them:
// each rank has a block, and every step it sends a row or a column to each of its four neighbours. The ranks
// form a torus, so that all have four.
//
//   mpicc -O2 stencil.c -o stencil
//   mpiexec -n 16 ./stencil [EDGE [STEPS [TIMES]]]
//
// EDGE: points along the edge of a rank's block (256). STEPS: how many (100), with one sum over all ranks
// every ten. TIMES: how often this is timed (1). Rank 0 prints the sum of the grid, and the seconds of a step
// on the slowest rank, a line each.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    MPI_Comm grid;
    MPI_Datatype column;
    int north, south, west, east;
    int edge;
} Block;

static double* at(double* field, int edge, int row, int column) {
    return field + (size_t)row * (size_t)(edge + 2) + (size_t)column;
}

/// Puts the neighbours' outermost points around the block.
static void exchange(const Block* block, double* field) {
    const int n = block->edge;
    MPI_Request requests[8];
    MPI_Irecv(at(field, n, 0, 1), n, MPI_DOUBLE, block->north, 0, block->grid, &requests[0]);
    MPI_Irecv(at(field, n, n + 1, 1), n, MPI_DOUBLE, block->south, 1, block->grid, &requests[1]);
    MPI_Irecv(at(field, n, 1, 0), 1, block->column, block->west, 2, block->grid, &requests[2]);
    MPI_Irecv(at(field, n, 1, n + 1), 1, block->column, block->east, 3, block->grid, &requests[3]);
    MPI_Isend(at(field, n, n, 1), n, MPI_DOUBLE, block->south, 0, block->grid, &requests[4]);
    MPI_Isend(at(field, n, 1, 1), n, MPI_DOUBLE, block->north, 1, block->grid, &requests[5]);
    MPI_Isend(at(field, n, 1, n), 1, block->column, block->east, 2, block->grid, &requests[6]);
    MPI_Isend(at(field, n, 1, 1), 1, block->column, block->west, 3, block->grid, &requests[7]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

static void step(const Block* block, double* from, double* to) {
    const int n = block->edge;
    exchange(block, from);
    for (int row = 1; row <= n; ++row) {
        for (int column = 1; column <= n; ++column) {
            *at(to, n, row, column) = 0.5 * *at(from, n, row, column) +
                                      0.125 * (*at(from, n, row - 1, column) + *at(from, n, row + 1, column) +
                                               *at(from, n, row, column - 1) + *at(from, n, row, column + 1));
        }
    }
}

static double sum_of(const Block* block, double* field) {
    double sum = 0, all = 0;
    for (int row = 1; row <= block->edge; ++row) {
        for (int column = 1; column <= block->edge; ++column) sum += *at(field, block->edge, row, column);
    }
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, block->grid);
    return all;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int edge = argc > 1 ? atoi(argv[1]) : 256;
    const int steps = argc > 2 ? atoi(argv[2]) : 100;
    const int times = argc > 3 ? atoi(argv[3]) : 1;
    int ranks, rank, shape[2] = {0, 0};
    const int periodic[2] = {1, 1};
    Block block = {.edge = edge};
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 2, shape);
    MPI_Cart_create(MPI_COMM_WORLD, 2, shape, periodic, 1, &block.grid);
    MPI_Comm_rank(block.grid, &rank);
    MPI_Cart_shift(block.grid, 0, 1, &block.north, &block.south);
    MPI_Cart_shift(block.grid, 1, 1, &block.west, &block.east);
    MPI_Type_vector(edge, 1, edge + 2, MPI_DOUBLE, &block.column);
    MPI_Type_commit(&block.column);
    const size_t points = (size_t)(edge + 2) * (size_t)(edge + 2);
    double* from = calloc(points, sizeof(double));
    double* to = calloc(points, sizeof(double));
    *at(from, edge, 1 + rank % edge, 1) = 1000;
    double sum = 0;
    for (int time = 0; time < times; ++time) {
#ifdef ALTERNATE
        MPI_Pcontrol(time % 2);  // a recorder is switched off and on in turn
#endif
        MPI_Barrier(block.grid);
        const double begin = MPI_Wtime();
        for (int number = 0; number < steps; ++number) {
            step(&block, from, to);
            double* const other = from;
            from = to;
            to = other;
            if (number % 10 == 9) sum = sum_of(&block, from);
        }
        double mine = (MPI_Wtime() - begin) / steps, slowest = 0;
        MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, block.grid);
        if (rank == 0) printf("%.9f s a step\n", slowest);
    }
    if (rank == 0) printf("sum %.6f\n", sum);
    free(from);
    free(to);
    MPI_Type_free(&block.column);
    MPI_Comm_free(&block.grid);
    MPI_Finalize();
    return 0;
}
