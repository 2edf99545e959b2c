/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program's attributes, and what it is told of them. */
#include <stdlib.h>

#include "hazards.h"

/* How often a program's callbacks were called. */
typedef struct {
    int copies, deletions;
} Calls;

static int copy_comm(MPI_Comm comm, int key, void *calls, void *in, void *out, int *flag) {
    (void)comm;
    (void)key;
    ((Calls *)calls)->copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_comm(MPI_Comm comm, int key, void *value, void *calls) {
    (void)comm;
    (void)key;
    (void)value;
    ((Calls *)calls)->deletions++;
    return MPI_SUCCESS;
}

static int copy_type(MPI_Datatype type, int key, void *calls, void *in, void *out, int *flag) {
    (void)type;
    (void)key;
    ((Calls *)calls)->copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_type(MPI_Datatype type, int key, void *value, void *calls) {
    (void)type;
    (void)key;
    (void)value;
    ((Calls *)calls)->deletions++;
    return MPI_SUCCESS;
}

/* As PETSc does: a communicator has another one within, which ends with it, and has work to do until then. */
static int end_inner(MPI_Comm comm, int key, void *value, void *calls) {
    (void)comm;
    (void)key;
    MPI_Comm *inner = value;
    broadcast(*inner, 0, 500, 5u);
    MPI_Comm_free(inner);
    free(inner);
    ((Calls *)calls)->deletions++;
    return MPI_SUCCESS;
}

/* Copies and deletions of a program's attributes are those that the program causes. */
void callbacks(const Job *job) {
    Calls of_comms = {0, 0}, of_types = {0, 0}, of_inner = {0, 0};
    int comm_key, type_key, inner_key;
    MPI_Comm_create_keyval(copy_comm, delete_comm, &comm_key, &of_comms);
    MPI_Type_create_keyval(copy_type, delete_type, &type_key, &of_types);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_inner, &inner_key, &of_inner);
    MPI_Comm_set_attr(MPI_COMM_WORLD, comm_key, &of_comms);
    for (int i = 0; i < 8; i++) {
        MPI_Comm copy, part, *inner = malloc(sizeof *inner);
        broadcast(MPI_COMM_WORLD, i % job->size, 200, 1u);
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        broadcast(copy, 0, 3000, 2u);
        MPI_Comm_split(copy, 0, -job->rank, &part); /* copies no attribute */
        broadcast(part, 0, 300, 3u);
        MPI_Comm_dup(part, inner);
        if (i % 2 == 0) broadcast(*inner, 0, 20, 4u);
        MPI_Comm_set_attr(part, inner_key, inner);
        MPI_Comm_free(&part);
        if (i % 3 == 0) MPI_Comm_disconnect(&copy);
        else MPI_Comm_free(&copy);
        MPI_Datatype type, twin;
        MPI_Type_vector(10, 1, 2, MPI_INT, &type);
        MPI_Type_set_attr(type, type_key, &of_types);
        MPI_Type_commit(&type);
        MPI_Type_dup(type, &twin);
        exchange_same(job, (Memory){1, type, 80, 0});
        exchange_same(job, (Memory){1, twin, 80, 0});
        MPI_Type_free(&type);
        exchange_same(job, (Memory){1, twin, 80, 0});
        MPI_Type_free(&twin);
    }
    MPI_Comm_delete_attr(MPI_COMM_WORLD, comm_key);
    MPI_Comm_free_keyval(&comm_key);
    MPI_Comm_free_keyval(&inner_key);
    MPI_Type_free_keyval(&type_key);
    const int counts[6] = {of_comms.copies,    of_comms.deletions, of_types.copies,
                           of_types.deletions, of_inner.copies,    of_inner.deletions};
    print_of_all(job, "calls", counts, 6);
}
