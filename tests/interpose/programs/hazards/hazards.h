/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the hazards share, and which there are: see main.c. */
#ifndef HAZARDS_H
#define HAZARDS_H

#include <mpi.h>
#include <stddef.h>

/* What every case is given. */
typedef struct {
    int rank, size;      /* in the world */
    const char *variant; /* "" if there is none */
    int times;           /* 0 if nothing is said */
} Job;

void die(const char *format, ...);
int is(const Job *job, const char *variant);
void pattern(unsigned char *data, size_t bytes, unsigned seed);
unsigned char *new_pattern(size_t bytes, unsigned seed);
/* One broadcast of bytes, whose data are checked on every rank. */
void broadcast(MPI_Comm comm, int root, int bytes, unsigned seed);
/* From every root, a few sizes. */
void broadcast_all(MPI_Comm comm, unsigned seed);
/* Ranks come at different times, in another order each time. */
void stagger(const Job *job, int i);
/* One line with the values of all ranks. */
void print_of_all(const Job *job, const char *what, const int *values, int count);
int class_of(int code);

/* How memory is sent or received: so many of a type, from `at` bytes behind the start of `bytes` bytes. */
typedef struct {
    int count;
    MPI_Datatype type;
    size_t bytes, at;
} Memory;

/* From every root: the root sends one kind of memory, all others receive in another. What is wanted is made
 * by MPI_Pack and MPI_Unpack on each rank; gaps must stay as they were. */
void exchange(const Job *job, Memory from, Memory to);
void exchange_same(const Job *job, Memory memory);
/* Commits a type, exchanges so many of it, frees it. */
void exchange_once(const Job *job, MPI_Datatype type, int count, size_t bytes, size_t at);
void expect_ints(const Job *job, const int *data, int count, int first);

/* communicators.c */
void graphs(const Job *job);
void contexts(const Job *job);
void churn(const Job *job);
void kinds(const Job *job);

/* at_once.c */
void idup(const Job *job);
void threads(const Job *job);
void overlap(const Job *job);

/* datatypes.c */
void bottom(const Job *job);
void bounds(const Job *job);
void gaps(const Job *job);
void permuted(const Job *job);
void nested(const Job *job);
void empty(const Job *job);
void reused(const Job *job);
void pairs(const Job *job);
void counts_of_64_bits(const Job *job);

/* huge.c */
void huge(const Job *job);

/* errors.c */
void truncated(const Job *job);
void left_behind(const Job *job);
void told_by_handler(const Job *job);
void errors(const Job *job);
void unequal(const Job *job);

/* callbacks.c */
void callbacks(const Job *job);

/* ending.c: these come back after MPI_Finalize, or not at all. */
void ending(Job *job);

#endif
