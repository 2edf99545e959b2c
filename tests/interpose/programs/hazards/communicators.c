/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every kind of communicator, as many as there can be, and what is left of them. */
#include <stdio.h>
#include <stdlib.h>

#include "hazards.h"

/* Graphs of processes, made in both ways between broadcasts on the old and the new communicators. Each is
 * made of a fresh duplicate and each rank gives its own edges: where rank 0 gives those of all and the world
 * is used over and over, Open MPI 4.1 hangs by itself, in MPI_Dist_graph_create, in most runs of 60. */
void graphs(const Job *job) {
    for (int i = 0; i < job->times; i++) {
        MPI_Comm old, adjacent, graph;
        MPI_Comm_dup(MPI_COMM_WORLD, &old);
        const int before = (job->rank + job->size - 1) % job->size, after = (job->rank + 1) % job->size;
        if (i % 2 == 0) broadcast(old, 0, 100, 1u); /* else the first broadcast is after the graph */
        MPI_Dist_graph_create_adjacent(old, 1, &before, MPI_UNWEIGHTED, 1, &after, MPI_UNWEIGHTED,
                                       MPI_INFO_NULL, 0, &adjacent);
        broadcast(adjacent, i % job->size, 2000, (unsigned)i);
        broadcast(MPI_COMM_WORLD, 0, 10, (unsigned)i);
        const int degree = 1;
        MPI_Dist_graph_create(old, 1, &job->rank, &degree, &after, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
        broadcast(old, (i + 1) % job->size, 2000, (unsigned)i);
        broadcast(graph, i % job->size, 300, (unsigned)i + 5u);
        broadcast(adjacent, 0, 1, (unsigned)i);
        if (i % 3 == 0) MPI_Comm_free(&old);
        MPI_Comm_free(&graph);
        MPI_Comm_free(&adjacent);
        if (old != MPI_COMM_NULL) MPI_Comm_free(&old);
    }
}

/* As many duplicates as the library can have, each with a broadcast; how many is printed. */
void contexts(const Job *job) {
    MPI_Comm *made = malloc(sizeof *made * (size_t)job->times);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int again = 0; again < 2; again++) {
        int count = 0;
        while (count < job->times && MPI_Comm_dup(MPI_COMM_WORLD, &made[count]) == MPI_SUCCESS) {
            broadcast(made[count], count % job->size, 40, (unsigned)count);
            count++;
        }
        for (int i = 0; i < count; i++) broadcast(made[i], (i + 1) % job->size, 50, (unsigned)i);
        broadcast_all(MPI_COMM_WORLD, 9u);
        print_of_all(job, "duplicates", &count, 1);
        for (int i = 0; i < count; i++) MPI_Comm_free(&made[i]);
    }
    free(made);
}

static long resident_kib(void) {
    char line[256];
    long value = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (sscanf(line, "VmRSS: %ld", &value) == 1) break;
    }
    if (status != NULL) fclose(status);
    return value;
}

/* Communicators come and go, and nothing is left of them. */
void churn(const Job *job) {
    long before = 0;
    for (int i = 0; i < job->times; i++) {
        if (i == 10000) before = resident_kib();
        MPI_Comm copy;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        broadcast(copy, i % job->size, 64, (unsigned)i);
        if (i % 8 == 0) MPI_Comm_disconnect(&copy);
        else MPI_Comm_free(&copy);
    }
    const long growth = resident_kib() - before;
    if (before <= 0 || growth > 4 * 1024)
        die("rank %d has grown by %ld KiB, from %ld", job->rank, growth, before);
}

/* Between the two halves of the world, from each half. */
static void between_halves(const Job *job) {
    MPI_Comm half, inter, merged;
    const int side = job->rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, job->rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 9, &inter);
    for (int sending = 0; sending < 2; sending++) {
        int half_rank;
        MPI_Comm_rank(half, &half_rank);
        const int root = side != sending ? 0 : half_rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
        int values[300];
        for (int i = 0; i < 300; i++) values[i] = root == MPI_ROOT ? i + sending : -1;
        MPI_Bcast(values, 300, MPI_INT, root, inter);
        for (int i = 0; i < 300 && side != sending; i++) {
            if (values[i] != i + sending) die("rank %d has wrong data of the other half", job->rank);
        }
    }
    MPI_Intercomm_merge(inter, side, &merged);
    broadcast_all(half, 3u);
    broadcast_all(merged, 4u);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    broadcast_all(merged, 5u);
    MPI_Comm_free(&merged);
}

/* Every kind of communicator that a program has. */
void kinds(const Job *job) {
    MPI_Comm comm, part;
    MPI_Group all, some;
    broadcast_all(MPI_COMM_SELF, 1u);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    broadcast_all(comm, 2u);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -job->rank, &comm); /* the world, backwards */
    broadcast_all(comm, 3u);
    MPI_Comm_split(comm, job->rank % 2, job->rank, &part); /* of which the even and the odd ones */
    broadcast_all(part, 4u);
    MPI_Comm_free(&comm);
    broadcast_all(part, 5u); /* a part outlives what it was made of */
    MPI_Comm_free(&part);
    MPI_Comm_split(MPI_COMM_WORLD, job->rank % 2 == 1 ? 0 : MPI_UNDEFINED, 0, &part); /* some have none */
    if (part != MPI_COMM_NULL) {
        broadcast_all(part, 6u);
        MPI_Comm_free(&part);
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part);
    broadcast_all(part, 7u);
    MPI_Comm_free(&part);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    const int last_and_first[2] = {job->size - 1, 0};
    MPI_Group_incl(all, 2, last_and_first, &some);
    MPI_Comm_create(MPI_COMM_WORLD, some, &part); /* collective over all of the world */
    if (part != MPI_COMM_NULL) {
        broadcast_all(part, 8u);
        MPI_Comm_free(&part);
    }
    if (job->rank == 0 || job->rank == job->size - 1) { /* collective over the two only */
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 5, &part);
        broadcast_all(part, 9u);
        MPI_Comm_free(&part);
    }
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    const int sides[2] = {job->size, 1}, wraps[2] = {1, 0};
    MPI_Cart_create(MPI_COMM_WORLD, 2, sides, wraps, 0, &comm);
    broadcast_all(comm, 10u);
    MPI_Comm_free(&comm);
    between_halves(job);
    broadcast_all(MPI_COMM_WORLD, 11u);
}
