/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What all hazards share. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hazards.h"

void die(const char *format, ...) {
    va_list values;
    va_start(values, format);
    fprintf(stderr, "hazards: ");
    vfprintf(stderr, format, values);
    fprintf(stderr, "\n");
    va_end(values);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

int is(const Job *job, const char *variant) { return strcmp(job->variant, variant) == 0; }

void pattern(unsigned char *data, size_t bytes, unsigned seed) {
    for (size_t i = 0; i < bytes; i++) data[i] = (unsigned char)(i * 131u + (i >> 8) * 31u + seed * 29u + 1u);
}

unsigned char *new_pattern(size_t bytes, unsigned seed) {
    unsigned char *data = malloc(bytes + 1);
    if (data == NULL) die("no memory for %zu bytes", bytes);
    pattern(data, bytes, seed);
    return data;
}

void broadcast(MPI_Comm comm, int root, int bytes, unsigned seed) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    unsigned char *data = new_pattern((size_t)bytes, rank == root ? seed : seed + 77u);
    unsigned char *wanted = new_pattern((size_t)bytes, seed);
    MPI_Bcast(data, bytes, MPI_BYTE, root, comm);
    if (memcmp(data, wanted, (size_t)bytes) != 0)
        die("%d bytes from rank %d are wrong on rank %d", bytes, root, rank);
    free(data);
    free(wanted);
}

void broadcast_all(MPI_Comm comm, unsigned seed) {
    int size;
    MPI_Comm_size(comm, &size);
    for (int root = 0; root < size; root++) {
        broadcast(comm, root, 1, seed + (unsigned)root);
        broadcast(comm, root, 5003, seed + (unsigned)root + 1u);
    }
}

void stagger(const Job *job, int i) { usleep((useconds_t)((job->rank * 7 + i * 3) % 5) * 200u); }

void print_of_all(const Job *job, const char *what, const int *values, int count) {
    int *all = malloc(sizeof *all * (size_t)(count * job->size));
    MPI_Gather(values, count, MPI_INT, all, count, MPI_INT, 0, MPI_COMM_WORLD);
    if (job->rank == 0) {
        printf("%s:", what);
        for (int i = 0; i < count * job->size; i++) printf("%s%d", i % count == 0 ? " " : "/", all[i]);
        printf("\n");
    }
    free(all);
}

int class_of(int code) {
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    return class;
}
