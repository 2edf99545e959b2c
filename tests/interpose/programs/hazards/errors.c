/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls that are wrong on all ranks, or on one. */
#include <stddef.h>

#include "hazards.h"

/* An error handler is told nothing of who asks, so what it counts is global. */
static int handler_calls = 0;

static void count_calls(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    (void)code;
    handler_calls++;
}

/* A broadcast that all ranks get wrong: what each is told, and how often its handler was called. */
static void try_wrong(const Job *job, const char *what, void *data, int count, MPI_Datatype type, int root,
                      MPI_Comm comm) {
    handler_calls = 0;
    int told[2];
    told[0] = class_of(MPI_Bcast(data, count, type, root, comm));
    told[1] = handler_calls;
    print_of_all(job, what, told, 2);
}

/* A communicator of all ranks with an error handler. MPICH tells errors of requests to the world's. */
static MPI_Comm world_with(MPI_Errhandler handler) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    return comm;
}

/* A broadcast of which rank 1 takes half: whether it is told so. */
static int is_truncated_by_half(const Job *job, void *data, int count, MPI_Datatype type, MPI_Comm comm) {
    return class_of(MPI_Bcast(data, job->rank == 1 ? count / 2 : count, type, 0, comm)) == MPI_ERR_TRUNCATE;
}

/* What only the message itself shows: the receiver's error is the library's own. */
void truncated(const Job *job) {
    double data[100] = {0};
    MPI_Comm comm = world_with(MPI_ERRORS_RETURN);
    broadcast_all(comm, 1u);
    const int is_truncated = is_truncated_by_half(job, data, 100, MPI_DOUBLE, comm);
    print_of_all(job, "is truncated", &is_truncated, 1);
    /* The other ranks do not know of it yet. */
    broadcast_all(comm, 2u);
    /* What is tried in the calls that go on is agreed by all. */
    for (int i = 0; i < job->times; i++) {
        int one = 1, all = 0;
        MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm);
        if (all != job->size) die("allreduce %d has %d", i, all);
    }
    /* By then they have heard of it, if there were some. */
    broadcast_all(comm, 3u);
    MPI_Comm_free(&comm);
}

static MPI_Comm control;

static void tell_the_others(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    (void)code;
    broadcast_all(control, 5u);
}

/* A rank tells the others of an error from its error handler, by the collective that they come to as well. */
void told_by_handler(const Job *job) {
    double data[100] = {0};
    MPI_Errhandler handler;
    MPI_Comm_dup(MPI_COMM_WORLD, &control);
    MPI_Comm_create_errhandler(tell_the_others, &handler);
    MPI_Comm comm = world_with(handler);
    const int is_truncated = is_truncated_by_half(job, data, 100, MPI_DOUBLE, comm);
    if (job->rank != 1) broadcast_all(control, 5u);
    print_of_all(job, "is truncated", &is_truncated, 1);
    broadcast_all(MPI_COMM_WORLD, 6u);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&control);
}

/* What was sent and not received in a broadcast that failed is for no other communicator: none that there is
 * by then, and none that is made when the failed one is gone. */
void left_behind(const Job *job) {
    unsigned char data[4000] = {0};
    MPI_Comm failed = world_with(MPI_ERRORS_RETURN), other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    const int is_truncated = is_truncated_by_half(job, data, 4000, MPI_BYTE, failed);
    print_of_all(job, "is truncated", &is_truncated, 1);
    broadcast_all(other, 1u);
    MPI_Comm_free(&failed);
    for (int i = 0; i < job->times; i++) {
        MPI_Comm made;
        MPI_Comm_dup(MPI_COMM_WORLD, &made);
        broadcast_all(made, (unsigned)i);
        MPI_Comm_free(&made);
    }
    MPI_Comm_free(&other);
}

void errors(const Job *job) {
    MPI_Comm comm;
    MPI_Errhandler handler = MPI_ERRORS_RETURN;
    MPI_Datatype uncommitted;
    MPI_Type_vector(3, 1, 2, MPI_INT, &uncommitted);
    if (is(job, "handler")) MPI_Comm_create_errhandler(count_calls, &handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler); /* errors without a communicator are told here, */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);  /* or, by newer standards, here */
    for (int round = 0; round < 2; round++) {         /* before the first broadcast and after it */
        int data[8] = {0};
        try_wrong(job, "root -1", data, 5, MPI_INT, -1, comm);
        try_wrong(job, "root -1 with 0 elements", data, 0, MPI_INT, -1, comm);
        try_wrong(job, "root of a rank too many", data, 5, MPI_INT, job->size, comm);
        try_wrong(job, "negative count", data, -1, MPI_INT, 0, comm);
        try_wrong(job, "no type", data, 5, MPI_DATATYPE_NULL, 0, comm);
        try_wrong(job, "no communicator", data, 5, MPI_INT, 0, MPI_COMM_NULL);
        try_wrong(job, "a type that is not committed", data, 1, uncommitted, 0, comm);
        try_wrong(job, "root -1 of one rank", data, 5, MPI_INT, -1, MPI_COMM_SELF);
#ifdef OPEN_MPI /* MPICH 4.0 crashes */
        try_wrong(job, "no type with 0 elements", data, 0, MPI_DATATYPE_NULL, 0, comm);
#else /* Open MPI crashes */
        try_wrong(job, "no buffer", NULL, 5, MPI_INT, 0, comm);
#endif
        broadcast_all(comm, (unsigned)round);
        broadcast_all(MPI_COMM_WORLD, (unsigned)round);
    }
    MPI_Type_free(&uncommitted);
    MPI_Comm_free(&comm);
    if (is(job, "handler")) MPI_Errhandler_free(&handler);
}

/* Rank 1 does something else than the others, which ISOCHRONE_CHECK finds. Without MPI_ERRORS_RETURN the job
 * is to end. The last line says whether the communicator is of use afterwards. */
void unequal(const Job *job) {
    double data[100] = {0};
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (!is(job, "fatal")) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    const int odd = job->rank == 1;
    int code;
    if (is(job, "kind") && odd)
        code = MPI_Barrier(comm);
    else if (is(job, "operation"))
        code = MPI_Allreduce(MPI_IN_PLACE, data, 100, MPI_DOUBLE, odd ? MPI_MAX : MPI_SUM, comm);
    else
        code = MPI_Bcast(data, odd && !is(job, "root") && !is(job, "kind") ? 50 : 100, MPI_DOUBLE,
                         odd && is(job, "root") ? 1 : 0, comm);
    const int is_argument = class_of(code) == MPI_ERR_ARG;
    print_of_all(job, "is an argument's error", &is_argument, 1);
    broadcast_all(comm, 1u);
    MPI_Comm_free(&comm);
}
