/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What it does to broadcasts that a rank posts its sends all at once, or one after the other:
 *
 *   send_order BYTES SEGMENTS CALLS FILE
 *
 * Writes seconds, of the least call, from a barrier to the end of the slowest rank, of a binomial tree with its sends
 * at once and one by one, and of a chain whose segments go at once and one by one. The root's first message to each
 * child is to the one with the largest part of the tree.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks;

static void binomial(char *data, int bytes, int at_once) {
    MPI_Request under_way[32];
    int count = 0, mask = 1;
    for (; mask < ranks; mask *= 2) {
        if (rank & mask) {
            MPI_Recv(data, bytes, MPI_CHAR, rank - mask, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            break;
        }
    }
    for (mask /= 2; mask > 0; mask /= 2) {
        if (rank + mask >= ranks) continue;
        MPI_Isend(data, bytes, MPI_CHAR, rank + mask, 0, MPI_COMM_WORLD, &under_way[count++]);
        if (!at_once) MPI_Wait(&under_way[--count], MPI_STATUS_IGNORE);
    }
    MPI_Waitall(count, under_way, MPI_STATUSES_IGNORE);
}

static void chain(char *data, int bytes, int segments, int at_once) {
    MPI_Request *in = malloc(sizeof(MPI_Request) * (size_t)segments);
    MPI_Request *out = malloc(sizeof(MPI_Request) * (size_t)segments);
    const int part = bytes / segments;
    int count = 0;
    for (int i = 0; rank > 0 && i < segments; i++)
        MPI_Irecv(data + i * part, part, MPI_CHAR, rank - 1, i, MPI_COMM_WORLD, &in[i]);
    for (int i = 0; i < segments; i++) {
        if (rank > 0) MPI_Wait(&in[i], MPI_STATUS_IGNORE);
        if (rank + 1 >= ranks) continue;
        MPI_Isend(data + i * part, part, MPI_CHAR, rank + 1, i, MPI_COMM_WORLD, &out[count++]);
        if (!at_once) MPI_Wait(&out[--count], MPI_STATUS_IGNORE);
    }
    MPI_Waitall(count, out, MPI_STATUSES_IGNORE);
    free(in), free(out);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 5) MPI_Abort(MPI_COMM_WORLD, 2);
    const int bytes = atoi(argv[1]), segments = atoi(argv[2]), calls = atoi(argv[3]);
    char *data = calloc((size_t)bytes, 1);
    double least[4] = {1e9, 1e9, 1e9, 1e9};
    for (int i = 0; i < 4 * (calls + 1); i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        if (i % 4 < 2)
            binomial(data, bytes, i % 4 == 0);
        else
            chain(data, bytes, segments, i % 4 == 2);
        const double mine = MPI_Wtime() - begin;
        double slowest;
        MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (i >= 4 && slowest < least[i % 4]) least[i % 4] = slowest;
    }
    FILE *file = rank == 0 ? fopen(argv[4], "w") : NULL;
    if (file != NULL) {
        fprintf(file, "%.9f %.9f %.9f %.9f\n", least[0], least[1], least[2], least[3]);
        fclose(file);
    }
    free(data);
    MPI_Finalize();
    return 0;
}
