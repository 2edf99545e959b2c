/* SPDX-License-Identifier: BSD-3-Clause
 *
 * All ways to end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hazards.h"

/* Called when MPI_COMM_SELF ends, which is the first thing in MPI_Finalize: everything works still. */
static int work_at_the_end(MPI_Comm self, int key, void *value, void *extra) {
    (void)self;
    (void)key;
    (void)extra;
    const Job *job = value;
    MPI_Comm copy;
    broadcast_all(MPI_COMM_WORLD, 1u);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    broadcast_all(copy, 2u);
    MPI_Comm_free(&copy);
    if (job->rank == 0) printf("broadcasts at the end\n");
    return MPI_SUCCESS;
}

/* What a program never frees, used and not. */
static void leave_things(const Job *job) {
    MPI_Comm used, unused, part;
    MPI_Datatype type;
    MPI_Comm_dup(MPI_COMM_WORLD, &unused);
    MPI_Comm_dup(MPI_COMM_WORLD, &used);
    MPI_Comm_split(MPI_COMM_WORLD, job->rank % 2, -job->rank, &part);
    broadcast_all(used, 1u);
    if (job->rank % 2 == 0) MPI_Comm_free(&part); /* not all ranks have the same left */
    else broadcast_all(part, 2u);
    MPI_Type_vector(3, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    exchange_same(job, (Memory){2, type, 64, 0});
    broadcast_all(MPI_COMM_WORLD, 3u);
}

static void finalize(void) { MPI_Finalize(); }

/* All ways to end. These come back after MPI_Finalize, or not at all. */
void ending(Job *job) {
    if (is(job, "atexit before")) atexit(finalize); /* what was there before MPI is ended after it */
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &job->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job->size);
    if (is(job, "atexit after")) atexit(finalize);
    leave_things(job);
    if (is(job, "self")) {
        int key;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, work_at_the_end, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, job);
    }
    if (job->rank == 0) printf("ok ending %s\n", job->variant);
    fflush(stdout);
    if (strncmp(job->variant, "atexit", 6) == 0) exit(0);
    if (is(job, "pmpi")) PMPI_Finalize(); /* as a tool does that stands in front of MPI_Finalize */
    else MPI_Finalize();
}
