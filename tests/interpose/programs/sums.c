/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums of floating-point numbers of all magnitudes and both signs, whose last bits follow the order in which they are
 * added. Rank 0 prints the bits of each, as numbers that tell them apart.
 *
 *   sums all    by MPI_Allreduce and MPI_Reduce to each root, of several lengths, in place and not
 *   sums gaps   an operation of its own on elements with gaps
 *   sums inter  between two groups
 */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40000, RANKS = 64 };

static int rank, size;
static double mine[MOST + RANKS], sum[MOST + RANKS];

static void fill(int length) {
    for (int i = 0; i < length; i++) {
        const int way = (rank * 7 + i * 3) % 11;
        mine[i] = (way % 2 == 0 ? 1 : -1) * (1.0 + rank / 7.0 + i / 13.0) * pow(10, 3 * (way - 5));
    }
}

static uint64_t bits(int length) {
    uint64_t digest = 0xcbf29ce484222325;
    for (int i = 0; i < length; i++) {
        uint64_t word;
        memcpy(&word, &sum[i], sizeof word);
        digest = (digest ^ word) * 0x100000001b3;
    }
    return digest;
}

/* One line on rank 0, by what `who` has. */
static void tell(const char *what, int length, int who) {
    uint64_t digest = bits(length);
    if (who != 0 && rank == who) MPI_Send(&digest, 1, MPI_UINT64_T, 0, 9, MPI_COMM_WORLD);
    if (who != 0 && rank == 0) MPI_Recv(&digest, 1, MPI_UINT64_T, who, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0) printf("%d numbers by %s: %016llx\n", length, what, (unsigned long long)digest);
}

static void all(void) {
    const int lengths[] = {1, 7, 1000, MOST};
    for (int l = 0; l < 4; l++) {
        const int length = lengths[l];
        fill(length);
        MPI_Allreduce(mine, sum, length, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        tell("allreduce", length, 0);
        tell("allreduce", length, size - 1);
        memcpy(sum, mine, sizeof(double) * (size_t)length);
        MPI_Allreduce(MPI_IN_PLACE, sum, length, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        tell("allreduce", length, 0);
        for (int root = 0; root < size; root++) {
            MPI_Reduce(mine, sum, length, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
            tell("reduce", length, root);
        }
        memcpy(sum, mine, sizeof(double) * (size_t)length);
        MPI_Reduce(rank == 1 ? MPI_IN_PLACE : mine, sum, length, MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD);
        tell("reduce", length, 1);
        MPI_Scan(mine, sum, length, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        tell("scan", length, size - 1);
        const int block = (length + size - 1) / size;
        fill(block * size);
        MPI_Reduce_scatter_block(mine, sum, block, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        tell("scattered", block, size - 1);
    }
}

static void first_of_two(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; i++) ((double *)inout)[2 * i] += ((double *)in)[2 * i];
}

static void gaps(void) {
    MPI_Datatype type;
    MPI_Op op;
    fill(10);
    MPI_Type_create_resized(MPI_DOUBLE, 0, 2 * sizeof(double), &type);
    MPI_Type_commit(&type);
    MPI_Op_create(first_of_two, 1, &op);
    for (int i = 0; i < 3; i++) MPI_Allreduce(mine, sum, 5, type, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

static void inter(void) {
    MPI_Comm half, between;
    fill(10);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &between);
    MPI_Barrier(between);
    for (int i = 0; i < 3; i++) MPI_Allreduce(mine, sum, 10, MPI_DOUBLE, MPI_SUM, between);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    if (strcmp(argv[1], "all") == 0) all();
    if (strcmp(argv[1], "gaps") == 0) gaps();
    if (strcmp(argv[1], "inter") == 0) inter();
    MPI_Finalize();
    return 0;
}
