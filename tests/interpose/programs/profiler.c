/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A profiler as others write them, to be preloaded: all that it does needs what its own MPI_Init has made.
 * At MPI_Finalize it adds a line to the file that PROFILE names.
 *
 *   -DONLY_FINALIZE  one that takes the place of MPI_Finalize only
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

struct counts {
    int init, bcast, gather, finalize;
};

static struct counts *counts; /* NULL before MPI_Init: whatever is called before takes the program down */

static void start(void) {
    if (counts == NULL) counts = calloc(1, sizeof *counts);
    counts->init++;
}

static void write_counts(void) {
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE *file = fopen(getenv("PROFILE"), "a");
    fprintf(file, "rank %d: init %d, bcast %d, gather %d, finalize %d\n", rank, counts->init, counts->bcast, counts->gather, counts->finalize);
    fclose(file);
}

EXPORT int MPI_Finalize(void) {
#ifdef ONLY_FINALIZE
    start();
#endif
    counts->finalize++;
    write_counts();
    return PMPI_Finalize();
}

#ifndef ONLY_FINALIZE
EXPORT int MPI_Init(int *argc, char ***argv) {
    const int code = PMPI_Init(argc, argv);
    start();
    return code;
}

EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    const int code = PMPI_Init_thread(argc, argv, required, provided);
    start();
    return code;
}

EXPORT int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    counts->bcast++;
    return PMPI_Bcast(buffer, count, type, root, comm);
}

EXPORT int MPI_Gather(const void *from, int sent, MPI_Datatype sent_type, void *to, int received, MPI_Datatype received_type, int root, MPI_Comm comm) {
    counts->gather++;
    return PMPI_Gather(from, sent, sent_type, to, received, received_type, root, comm);
}
#endif
