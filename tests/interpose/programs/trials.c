/* SPDX-License-Identifier: BSD-3-Clause
 *
 * trials CALLS [KIND]: rounds of collectives whose results each rank checks. Rank 0 prints how many were wrong on all
 * ranks. All values are whole numbers, so that nothing depends on what runs.
 *
 *   world     broadcasts from rank 0, of 5000 bytes (the default)
 *   large     ... of 1 MB
 *   roots     ... of 5000 bytes from each rank in turn
 *   split     on halves of the ranks, and on all
 *   freed     on a communicator that is freed and made again every 20 calls
 *   briefly   on one that is freed after eight, in as many rounds as there are calls
 *   threads   on a communicator for each of three threads
 *   reduce    sums of whole and of floating-point numbers, also in place, and an operation that does not commute
 *   blocks    gathers and exchanges of blocks
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 1250, LARGE = 250000, THREADS = 3 };

static int calls;

static int broadcasts_of(int length, MPI_Comm comm, int count, int turn) {
    int rank, size, wrong = 0;
    int *data = malloc(sizeof(int) * length);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int call = 0; call < count; call++) {
        const int root = turn ? call % size : 0;
        for (int i = 0; i < length; i++) data[i] = rank == root ? 3 * call + i : -1;
        MPI_Bcast(data, length, MPI_INT, root, comm);
        for (int i = 0; i < length; i++) wrong += data[i] != 3 * call + i;
    }
    free(data);
    return wrong;
}

static int broadcasts(MPI_Comm comm, int count, int turn) { return broadcasts_of(LENGTH, comm, count, turn); }

static void *thread(void *comm) {
    int *wrong = malloc(sizeof *wrong);
    *wrong = broadcasts(*(MPI_Comm *)comm, calls, 1);
    return wrong;
}

static int on_threads(void) {
    pthread_t threads[THREADS];
    MPI_Comm comms[THREADS];
    int wrong = 0;
    for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, thread, &comms[i]);
    for (int i = 0; i < THREADS; i++) {
        void *mine;
        pthread_join(threads[i], &mine);
        wrong += *(int *)mine;
        free(mine);
        MPI_Comm_free(&comms[i]);
    }
    return wrong;
}

static int halves(void) {
    int rank, wrong = 0;
    MPI_Comm half;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    for (int round = 0; round < calls / 10; round++) {
        wrong += broadcasts(half, 5 + 3 * (rank % 2), 0);
        wrong += broadcasts(MPI_COMM_WORLD, 5, 0);
    }
    MPI_Comm_free(&half);
    return wrong;
}

static int freed(int rounds, int count) {
    int wrong = 0;
    for (int round = 0; round < rounds; round++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        wrong += broadcasts(comm, count, 0);
        MPI_Comm_free(&comm);
    }
    return wrong;
}

/* Composition of maps x -> a x + b modulo 256, as pairs of bytes: associative, and not commutative. */
static void compose(void *in, void *inout, int *length, MPI_Datatype *type) {
    unsigned char *a = in, *b = inout;
    (void)type;
    for (int i = 0; i < *length; i++, a += 2, b += 2) {
        const unsigned char factor = a[0] * b[0], offset = b[0] * a[1] + b[1];
        b[0] = factor;
        b[1] = offset;
    }
}

static int reductions(void) {
    int rank, size, wrong = 0;
    MPI_Op op;
    MPI_Datatype pair;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Op_create(compose, 0, &op);
    MPI_Type_contiguous(2, MPI_BYTE, &pair);
    MPI_Type_commit(&pair);
    unsigned char expected[2] = {1, 0};
    for (int r = 0; r < size; r++) {
        unsigned char next[2] = {2 * r + 3, 5 * r + 1};
        int one = 1;
        compose(expected, next, &one, NULL);
        memcpy(expected, next, 2);
    }
    for (int call = 0; call < calls; call++) {
        int in[LENGTH], out[LENGTH];
        double real[100];
        unsigned char mine[2] = {2 * rank + 3, 5 * rank + 1}, all[2] = {0, 0};
        for (int i = 0; i < LENGTH; i++) in[i] = out[i] = rank + i + call;
        for (int i = 0; i < 100; i++) real[i] = rank + i;
        const int first = size * (size - 1) / 2;
        MPI_Allreduce(MPI_IN_PLACE, out, LENGTH, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < LENGTH; i++) wrong += out[i] != first + size * (i + call);
        MPI_Reduce(rank == 0 ? MPI_IN_PLACE : in, rank == 0 ? in : NULL, LENGTH, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        for (int i = 0; rank == 0 && i < LENGTH; i++) wrong += in[i] != first + size * (i + call);
        MPI_Allreduce(MPI_IN_PLACE, real, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < 100; i++) wrong += real[i] != first + size * i;
        MPI_Allreduce(mine, all, 1, pair, op, MPI_COMM_WORLD);
        wrong += memcmp(all, expected, 2) != 0;
    }
    MPI_Type_free(&pair);
    MPI_Op_free(&op);
    return wrong;
}

static int blocks(void) {
    int rank, size, wrong = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *in = malloc(sizeof(int) * size), *out = malloc(sizeof(int) * size);
    for (int call = 0; call < calls; call++) {
        for (int i = 0; i < size; i++) in[i] = 100 * rank + i + call;
        MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < size; i++) wrong += out[i] != 100 * i + rank + call;
        out[rank] = rank + call;
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 1, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < size; i++) wrong += out[i] != i + call;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    free(in);
    free(out);
    return wrong;
}

int main(int argc, char **argv) {
    int rank, provided, wrong = -1, all = 0;
    const char *kind = argc > 2 ? argv[2] : "world";
    calls = atoi(argv[1]);
    MPI_Init_thread(&argc, &argv, strcmp(kind, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(kind, "world") == 0) wrong = broadcasts(MPI_COMM_WORLD, calls, 0);
    if (strcmp(kind, "large") == 0) wrong = broadcasts_of(LARGE, MPI_COMM_WORLD, calls, 0);
    if (strcmp(kind, "roots") == 0) wrong = broadcasts(MPI_COMM_WORLD, calls, 1);
    if (strcmp(kind, "split") == 0) wrong = halves();
    if (strcmp(kind, "freed") == 0) wrong = freed(calls / 20, 20);
    if (strcmp(kind, "briefly") == 0) wrong = freed(calls, 8);
    if (strcmp(kind, "threads") == 0) wrong = provided == MPI_THREAD_MULTIPLE ? on_threads() : 0;
    if (strcmp(kind, "reduce") == 0) wrong = reductions();
    if (strcmp(kind, "blocks") == 0) wrong = blocks();
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: %d wrong values\n", kind, all);
    MPI_Finalize();
    return 0;
}
