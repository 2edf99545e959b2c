/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives that are called as MPI does not allow it.
 *
 *   strange_calls refused   what libraries refuse: each rank prints what it is told, and how often its error handler
 *                           was called. All are refused on all ranks, or need no other rank
 *   strange_calls overlap   reductions whose blocks are to lie where the operand is: prints how many are wrong
 */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 16, BLOCK = 3, LONG_BLOCK = 60000, ROUNDS = 4 };

static int rank, size, handled;
static char said[1 << 16];

/* A line that rank 0 prints at the end: launchers mix what ranks print by themselves. */
static void say(const char *format, ...) {
    const size_t length = strlen(said);
    va_list values;
    va_start(values, format);
    vsnprintf(said + length, sizeof said - length, format, values);
    va_end(values);
}

static void handler(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    (void)code;
    handled++;
}

static void tell(const char *what, int code) {
    int class;
    MPI_Error_class(code, &class);
    say("rank %d: %s: class %d, handler called %d times\n", rank, what, class, handled);
    handled = 0;
}

#define TRY(call) tell(#call, call)

static void refused(void) {
    MPI_Comm comm;
    MPI_Errhandler counting;
    MPI_Datatype unready, gaps;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handler, &counting);
    MPI_Comm_set_errhandler(comm, counting);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, counting); /* some libraries tell all errors there */
    MPI_Type_contiguous(2, MPI_INT, &unready);
    MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    static int a[BLOCK * RANKS], b[BLOCK * RANKS];
    int counts[RANKS], at[RANKS], in_bytes[RANKS], none[RANKS] = {0}, negative[RANKS];
    MPI_Datatype ints[RANKS], unready_ones[RANKS];
    for (int i = 0; i < size; i++) {
        in_bytes[i] = BLOCK * i * (int)sizeof(int);
        ints[i] = MPI_INT;
        unready_ones[i] = unready;
        counts[i] = BLOCK;
        at[i] = BLOCK * i;
        negative[i] = -1;
    }
    /* The first call on a communicator may make what later ones need: not while one rank is refused. */
    TRY(MPI_Exscan(a, b, BLOCK, MPI_INT, MPI_SUM, comm));

    TRY(MPI_Allreduce(a, MPI_IN_PLACE, BLOCK, MPI_INT, MPI_SUM, comm));
    TRY(MPI_Scan(a, MPI_IN_PLACE, BLOCK, MPI_INT, MPI_SUM, comm));
    TRY(MPI_Scan(MPI_IN_PLACE, MPI_IN_PLACE, BLOCK, MPI_INT, MPI_SUM, comm));
    TRY(MPI_Reduce_scatter(a, MPI_IN_PLACE, counts, MPI_INT, MPI_SUM, comm));
    TRY(MPI_Reduce_scatter_block(a, MPI_IN_PLACE, BLOCK, MPI_INT, MPI_SUM, comm));
    TRY(MPI_Allgather(a, BLOCK, MPI_INT, MPI_IN_PLACE, BLOCK, MPI_INT, comm));
    TRY(MPI_Allgatherv(a, BLOCK, MPI_INT, MPI_IN_PLACE, counts, at, MPI_INT, comm));
    TRY(MPI_Alltoall(a, BLOCK, MPI_INT, MPI_IN_PLACE, BLOCK, MPI_INT, comm));
    TRY(MPI_Alltoallv(a, counts, at, MPI_INT, MPI_IN_PLACE, counts, at, MPI_INT, comm));
    TRY(MPI_Alltoallw(a, counts, in_bytes, ints, MPI_IN_PLACE, counts, in_bytes, ints, comm));
#ifdef OPEN_MPI
    /* Where Open MPI is told so by a null pointer, MPICH reads what is there. */
    TRY(MPI_Bcast(MPI_IN_PLACE, BLOCK, MPI_INT, 0, comm));
    TRY(MPI_Allgatherv(a, BLOCK, MPI_INT, b, counts, NULL, MPI_INT, comm));
    TRY(MPI_Alltoallv(a, NULL, at, MPI_INT, b, none, at, MPI_INT, comm));
    TRY(MPI_Alltoallv(a, counts, NULL, MPI_INT, b, counts, at, MPI_INT, comm));
    TRY(MPI_Alltoallv(a, counts, at, MPI_INT, b, counts, NULL, MPI_INT, comm));
    TRY(MPI_Alltoallw(a, counts, in_bytes, NULL, b, counts, in_bytes, ints, comm));
    TRY(MPI_Alltoallw(a, counts, in_bytes, ints, b, counts, NULL, ints, comm));
    if (rank == 0) {
        TRY(MPI_Gatherv(a, 0, MPI_INT, b, NULL, at, MPI_INT, 0, comm));
        TRY(MPI_Gatherv(a, 0, MPI_INT, b, none, NULL, MPI_INT, 0, comm));
        TRY(MPI_Scatterv(a, NULL, at, MPI_INT, b, 0, MPI_INT, 0, comm));
        TRY(MPI_Scatterv(a, none, NULL, MPI_INT, b, 0, MPI_INT, 0, comm));
    }
    /* The first rank gets nothing, and its place for it is not looked at. */
    for (int i = 0; i < BLOCK; i++) a[i] = rank + 1;
    TRY(MPI_Exscan(a, rank == 0 ? MPI_IN_PLACE : b, BLOCK, MPI_INT, MPI_SUM, comm));
    if (rank > 0) say("rank %d: exscan: %d\n", rank, b[BLOCK - 1]);
#endif
    const int no_roots[] = {-1, size, MPI_ROOT, MPI_PROC_NULL};
    for (int i = 0; i < 4; i++) {
        const int root = no_roots[i];
        TRY(MPI_Gather(a, BLOCK, MPI_INT, b, BLOCK, MPI_INT, root, comm));
        TRY(MPI_Gatherv(a, BLOCK, MPI_INT, b, counts, at, MPI_INT, root, comm));
        TRY(MPI_Scatter(a, BLOCK, MPI_INT, b, BLOCK, MPI_INT, root, comm));
        TRY(MPI_Scatterv(a, counts, at, MPI_INT, b, BLOCK, MPI_INT, root, comm));
    }
    TRY(MPI_Allgather(a, -1, MPI_INT, b, -1, MPI_INT, comm));
    TRY(MPI_Allgatherv(a, -1, MPI_INT, b, negative, at, MPI_INT, comm));
    TRY(MPI_Alltoallv(a, negative, at, MPI_INT, b, negative, at, MPI_INT, comm));
    TRY(MPI_Alltoallw(a, negative, in_bytes, ints, b, negative, in_bytes, ints, comm));
    TRY(MPI_Reduce_scatter(a, b, negative, MPI_INT, MPI_SUM, comm));
    TRY(MPI_Allgather(a, BLOCK, MPI_DATATYPE_NULL, b, BLOCK, MPI_DATATYPE_NULL, comm));
    TRY(MPI_Alltoall(a, 1, unready, b, 1, unready, comm));
    TRY(MPI_Alltoall(a, 0, unready, b, 0, unready, comm));
    TRY(MPI_Alltoallw(a, counts, in_bytes, unready_ones, b, counts, in_bytes, unready_ones, comm));
    TRY(MPI_Scan(a, b, 1, gaps, MPI_SUM, comm));
    TRY(MPI_Exscan(a, b, 1, MPI_DOUBLE, MPI_BAND, comm));
    TRY(MPI_Reduce_scatter_block(a, b, 1, MPI_INT, MPI_MAXLOC, comm));
    TRY(MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_OP_NULL, comm));
    TRY(MPI_Allgatherv(a, 0, MPI_INT, NULL, none, at, MPI_INT, comm));
    TRY(MPI_Alltoallv(NULL, none, at, MPI_INT, b, none, at, MPI_INT, comm));
    MPI_Type_free(&gaps);
    MPI_Type_free(&unready);
    MPI_Errhandler_free(&counting);
    MPI_Comm_free(&comm);
}

/* What the blocks of this rank must be: of the sums over all. */
static int is_wrong(const int *blocks) {
    for (int i = 0; i < LONG_BLOCK; i++)
        if (blocks[i] != size * (rank * LONG_BLOCK + i) + size * (size - 1) / 2) return 1;
    return 0;
}

static int *operand(int *all) {
    for (int i = 0; i < size * LONG_BLOCK; i++) all[i] = i + rank;
    return all;
}

static void overlap(void) {
    int *all = malloc(sizeof(int) * (size_t)(size * LONG_BLOCK)), counts[RANKS], wrong = 0;
    for (int i = 0; i < size; i++) counts[i] = LONG_BLOCK;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Reduce_scatter(operand(all), all, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        wrong += is_wrong(all);
        MPI_Reduce_scatter_block(operand(all), all, LONG_BLOCK, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        wrong += is_wrong(all);
        /* In the middle of the operand. */
        int *const own = all + rank * LONG_BLOCK;
        MPI_Reduce_scatter_block(operand(all), own, LONG_BLOCK, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        wrong += is_wrong(own);
        operand(all);
        MPI_Scan(all, all, LONG_BLOCK, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        wrong += all[7] != (rank + 1) * 7 + rank * (rank + 1) / 2;
    }
    say("rank %d: %d wrong\n", rank, wrong);
    free(all);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > RANKS) MPI_Abort(MPI_COMM_WORLD, 2);
    if (strcmp(argv[1], "refused") == 0) refused();
    if (strcmp(argv[1], "overlap") == 0) overlap();
    if (rank > 0) MPI_Send(said, sizeof said, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    for (int from = 0; rank == 0 && from < size; from++) {
        if (from > 0) MPI_Recv(said, sizeof said, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        fputs(said, stdout);
    }
    MPI_Finalize();
    return 0;
}
