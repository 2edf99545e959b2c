/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reductions by an operation that does not commute: maps x -> a x + b, one after the other. Prints of each
 * whether all ranks have, at all sizes, what comes of the ranks' order: "NAME right" or "NAME wrong".
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    unsigned a, b;
} Map;

static Map after(Map first, Map then) {
    Map both = {first.a * then.a, first.a * then.b + first.b};
    return both;
}

static void combine(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *count; ++i) ((Map*)inout)[i] = after(((Map*)in)[i], ((Map*)inout)[i]);
}

static Map value(int rank, int i) {
    Map map = {2U * (unsigned)(7 * rank + i) + 3U, (unsigned)(31 * rank + 5 * i + 1)};
    return map;
}

/* Of the first ranks, at least one. */
static Map expected(int ranks, int i) {
    Map all = value(0, i);
    for (int rank = 1; rank < ranks; ++rank) all = after(all, value(rank, i));
    return all;
}

static int is_right(const Map* found, int count, int ranks, int from) {
    for (int i = 0; i < count; ++i) {
        const Map wanted = expected(ranks, from + i);
        if (memcmp(&wanted, &found[i], sizeof wanted) != 0) return 0;
    }
    return 1;
}

int main(int argc, char** argv) {
    const char* const names[] = {"allreduce", "reduce", "reduce_scatter", "reduce_scatter_block", "scan",
                                 "exscan"};
    const int counts[] = {1, 2, 7, 100, 1000, 20000};
    int rank = 0;
    int size = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Datatype type;
    MPI_Type_contiguous(2, MPI_UNSIGNED, &type);
    MPI_Type_commit(&type);
    MPI_Op op;
    MPI_Op_create(combine, 0, &op);
    for (int which = 0; which < 6; ++which) {
        int right = 1;
        for (int at = 0; at < 6; ++at) {
            const int count = counts[at];
            const int root = at % 2 == 0 ? 0 : size - 1;
            const size_t total = (size_t)count * (size_t)size;
            Map* const in = malloc(total * sizeof *in);
            Map* const out = calloc(total, sizeof *out);
            int* const blocks = malloc((size_t)size * sizeof *blocks);
            for (size_t i = 0; i < total; ++i) in[i] = value(rank, (int)i);
            for (int i = 0; i < size; ++i) blocks[i] = count;
            int ranks = size;
            int from = 0;
            if (which == 0) {
                MPI_Allreduce(in, out, count, type, op, MPI_COMM_WORLD);
            } else if (which == 1) {
                MPI_Reduce(in, out, count, type, op, root, MPI_COMM_WORLD);
                if (rank != root) ranks = 0;
            } else if (which == 2) {
                MPI_Reduce_scatter(in, out, blocks, type, op, MPI_COMM_WORLD);
                from = rank * count;
            } else if (which == 3) {
                MPI_Reduce_scatter_block(in, out, count, type, op, MPI_COMM_WORLD);
                from = rank * count;
            } else if (which == 4) {
                MPI_Scan(in, out, count, type, op, MPI_COMM_WORLD);
                ranks = rank + 1;
            } else {
                MPI_Exscan(in, out, count, type, op, MPI_COMM_WORLD);
                ranks = rank;
            }
            if (ranks > 0 && !is_right(out, count, ranks, from)) right = 0;
            free(in);
            free(out);
            free(blocks);
        }
        int all = 0;
        MPI_Reduce(&right, &all, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
        if (rank == 0) printf("%s %s\n", names[which], all ? "right" : "wrong");
    }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
