/* SPDX-License-Identifier: BSD-3-Clause
 *
 * isochrone.h: for programs that are linked with libisochrone_mpi, before the MPI library, instead of being
 * started by `isochrone run`. Their collectives are improved as a preload improves them: by MPI's own names.
 *
 * Where ISOCHRONE_PLAN and ISOCHRONE_TOPOLOGY name files, MPI_Init loads them. A program may load others itself,
 * see isochrone_open.
 *
 * All functions but the first two are for the time between MPI_Init and MPI_Finalize. They return ISOCHRONE_SUCCESS
 * or one of the errors below, and never end the program. None but isochrone_open talks to other ranks.
 */
#ifndef ISOCHRONE_H
#define ISOCHRONE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#define ISOCHRONE_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

enum {
    ISOCHRONE_SUCCESS = 0,
    ISOCHRONE_ERR_INACTIVE = 1, /* no plan is followed: none was given, or it does not hold for this job */
    ISOCHRONE_ERR_ARG = 2,      /* no such level, collective or root, or a null pointer */
    ISOCHRONE_ERR_COMM = 3,     /* an intercommunicator, or one with ranks of another world */
    ISOCHRONE_ERR_SIZE = 4,     /* the text is longer than the buffer, which has its beginning */
    ISOCHRONE_ERR_ORDER = 5,    /* MPI does not run, or a plan is followed already */
    ISOCHRONE_ERR_INTERNAL = 6  /* MPI or the memory failed; a line on stderr says more */
};

/* Isochrone's version, such as "0.1.0". */
ISOCHRONE_API const char *isochrone_version(void);

/* An error in words. */
ISOCHRONE_API const char *isochrone_error_text(int error);

/* Loads a plan and its topology, by their paths. Collective over MPI_COMM_WORLD, with the same arguments, and waits
 * for all ranks; only rank 0 reads the files. The other settings come from the environment. No receive with
 * MPI_ANY_TAG may be open on MPI_COMM_WORLD meanwhile. ISOCHRONE_ERR_INACTIVE on all ranks: the plan does not hold, as
 * a line on stderr says, or there is one rank only. Not for several threads at once. */
ISOCHRONE_API int isochrone_open(const char *plan, const char *topology);

/* 1 if a plan is followed, else 0. */
ISOCHRONE_API int isochrone_is_open(void);

/* How many levels the tree of the machine has. */
ISOCHRONE_API int isochrone_level_count(int *count);

/* The name of a level, such as "node"; 0 is the outermost. `size`: bytes of `name`, with the 0 at its end. */
ISOCHRONE_API int isochrone_level_name(int level, char *name, size_t size);

/* Where this rank is at a level, among the ranks of a communicator: the number of its group, from 0, how many ranks
 * that has, and the lowest of them, which leads it unless a collective's root is in it. Any but `comm` and `level`
 * may be NULL. Takes time in proportion to the ranks. */
ISOCHRONE_API int isochrone_group(MPI_Comm comm, int level, int *group, int *size, int *leader);

/* What the plan says for a call, and why, as text: "binomial: measured 2.00x faster than native for 4 ranks in one
 * node". `collective`: "bcast", "reduce" and so on, as plans name them. `bytes`: of the message on one rank. `root`: 0
 * where the collective has none. A reduction is taken for one whose operation commutes. Takes time in proportion to
 * the ranks. */
ISOCHRONE_API int isochrone_recipe(MPI_Comm comm, const char *collective, int64_t bytes, int root, char *text,
                                   size_t size);

/* What ran by recipes on this rank, on all communicators. */
typedef struct isochrone_counters {
    uint64_t calls;
    double seconds; /* in them, with the time in which they waited for other ranks */
    double saved_s; /* seconds * (the plan's speedup - 1): an estimate */
} isochrone_counters;

/* The counters of one collective, or with NULL those of all. */
ISOCHRONE_API int isochrone_read_counters(const char *collective, isochrone_counters *counters);

#ifdef __cplusplus
}
#endif

#endif
