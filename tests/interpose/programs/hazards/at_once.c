/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives that are under way at once. */
#include <pthread.h>
#include <unistd.h>

#include "hazards.h"

/* Blocking collectives while a communicator is being made. Whoever makes one of its own in the first
 * broadcast does so beside a pending MPI_Comm_idup: both then ask for a number at once, and not in one order
 * on all ranks. */
void idup(const Job *job) {
    for (int i = 0; i < job->times; i++) {
        MPI_Comm parent = MPI_COMM_WORLD, other = MPI_COMM_NULL, made[4];
        MPI_Request requests[4];
        const int count = is(job, "several") ? 4 : 1;
        /* The first time it is the first broadcast of all. */
        if (i > 0) MPI_Comm_dup(MPI_COMM_WORLD, &parent);
        if (is(job, "other")) MPI_Comm_dup(MPI_COMM_WORLD, &other);
        stagger(job, i);
        for (int k = 0; k < count; k++) MPI_Comm_idup(parent, &made[k], &requests[k]);
        if (other != MPI_COMM_NULL) broadcast(other, i % job->size, 300, (unsigned)i);
        broadcast(parent, i % job->size, 3000, (unsigned)i);
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        for (int k = 0; k < count; k++) {
            broadcast(made[k], (i + k) % job->size, 700, (unsigned)(i + k));
            MPI_Comm_free(&made[k]);
        }
        if (other != MPI_COMM_NULL) MPI_Comm_free(&other);
        if (i > 0) MPI_Comm_free(&parent);
    }
}

/* One thread of many; all that it shares with the others is the world. */
typedef struct {
    const Job *job;
    int index;
    MPI_Comm own; /* of this thread, and of the threads with this index on the other ranks */
    pthread_barrier_t *start;
} Thread;

static unsigned next(unsigned *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

static void *run_thread(void *argument) {
    const Thread *self = argument;
    const Job *job = self->job;
    unsigned state = 1000u + (unsigned)self->index; /* the same on all ranks */
    pthread_barrier_wait(self->start);
    /* The first broadcasts of all at once, and on each rank another thread comes first. */
    usleep((useconds_t)((self->index + job->rank) % 4) * 1000u);
    broadcast(self->own, self->index % job->size, 1000, next(&state));
    MPI_Comm part;
    MPI_Comm_split(self->own, job->size > 2 && job->rank == job->size - 1, -job->rank, &part);
    int part_size;
    MPI_Comm_size(part, &part_size);
    for (int i = 0; i < job->times; i++) {
        const int root = (int)(next(&state) % (unsigned)job->size);
        const int bytes = (int)(next(&state) % (i % 50 == 0 ? 100000u : 3000u));
        if (i % 4 == 1) broadcast(part, root % part_size, bytes, state);
        else broadcast(self->own, root, bytes, state);
        if (i % 100 == 7) {
            MPI_Comm copy;
            MPI_Comm_dup(self->own, &copy);
            broadcast(copy, root, bytes / 2, state);
            MPI_Comm_free(&copy);
        }
    }
    MPI_Comm_free(&part);
    return NULL;
}

/* Threads that broadcast at once, each on communicators of its own, and make and free some. */
void threads(const Job *job) {
    enum { THREADS = 4 };
    Thread all[THREADS];
    pthread_t handles[THREADS];
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, THREADS);
    for (int t = 0; t < THREADS; t++) {
        all[t] = (Thread){job, t, MPI_COMM_NULL, &start};
        MPI_Comm_dup(MPI_COMM_WORLD, &all[t].own);
    }
    for (int t = 0; t < THREADS; t++) pthread_create(&handles[t], NULL, run_thread, &all[t]);
    for (int t = 0; t < THREADS; t++) pthread_join(handles[t], NULL);
    for (int t = 0; t < THREADS; t++) MPI_Comm_free(&all[t].own);
    pthread_barrier_destroy(&start);
}

/* Collectives that have begun, and receives of anything from anybody, while broadcasts run on overlapping
 * communicators: none takes what is another's. */
void overlap(const Job *job) {
    enum { PAIRS = 3, COMMS = PAIRS + 3 };
    MPI_Comm comms[COMMS];
    for (int pair = 0; pair < PAIRS; pair++) { /* of three ranks each two; all others are by themselves */
        const int in = job->rank < 3 && job->rank != pair;
        MPI_Comm_split(MPI_COMM_WORLD, in ? 0 : 1 + job->rank, -job->rank, &comms[pair]);
    }
    comms[PAIRS] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[PAIRS + 1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -job->rank, &comms[PAIRS + 2]);
    const int next_rank = (job->rank + 1) % job->size;
    for (int i = 0; i < job->times; i++) {
        int got[2] = {-1, -1}, sum = 0, one = 1, word = job->rank == i % job->size ? i : -1, found = 1;
        MPI_Request requests[5];
        MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&got[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[PAIRS + 1], &requests[1]);
        MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]);
        MPI_Ibcast(&word, 1, MPI_INT, i % job->size, MPI_COMM_WORLD, &requests[3]);
        MPI_Ibarrier(comms[PAIRS + 1], &requests[4]);
        stagger(job, i);
        for (int c = 0; c < COMMS; c++) {
            const int which = (c + i) % COMMS;
            int size;
            MPI_Comm_size(comms[which], &size);
            broadcast(comms[which], (i + c) % size, 400 * (c + 1), (unsigned)(i + c));
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[which], &found, MPI_STATUS_IGNORE);
            if (found) die("a message of a broadcast can be seen");
        }
        MPI_Barrier(MPI_COMM_WORLD); /* until all have looked */
        MPI_Send(&i, 1, MPI_INT, next_rank, i, MPI_COMM_WORLD);
        MPI_Send(&i, 1, MPI_INT, next_rank, 0, comms[PAIRS + 1]);
        MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
        if (got[0] != i || got[1] != i || sum != job->size || word != i) die("round %d is wrong", i);
    }
    for (int c = 0; c < COMMS; c++) {
        if (c != PAIRS) MPI_Comm_free(&comms[c]);
    }
}
