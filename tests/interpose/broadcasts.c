/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Broadcasts of all kinds; only on the world if the argument is "quick". Rank 0 prints one hash of all bytes that all ranks ended up with, so that two runs can be compared.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long hash = 1469598103934665603ULL;

static void add(const void *data, size_t bytes) {
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ byte[i]) * 1099511628211ULL;
}

static void fill(unsigned char *data, size_t bytes, unsigned seed) {
    for (size_t i = 0; i < bytes; i++) data[i] = (unsigned char)((seed = seed * 1103515245u + 12345u) >> 16);
}

/* Contiguous bytes of many sizes from every root. */
static void bytes(MPI_Comm comm) {
    static const int sizes[] = {0, 1, 7, 1000, 4099, 100003};
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int s = 0; s < 6; s++) {
        for (int root = 0; root < size; root++) {
            unsigned char *data = malloc((size_t)sizes[s] + 8);
            fill(data, (size_t)sizes[s] + 8, rank == root ? 100u + (unsigned)root : 7u);
            MPI_Bcast(data, sizes[s], MPI_BYTE, root, comm);
            add(data, (size_t)sizes[s]);
            free(data);
        }
    }
}

/* The root sends every other int of an array; the leaves receive into a permuted one, and a struct type with gaps goes around. */
static void datatypes(MPI_Comm comm) {
    enum { COUNT = 501 };
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Datatype every_other, swapped, gaps;
    MPI_Type_vector(COUNT, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    const int displacements[2] = {1, 0};
    MPI_Type_create_indexed_block(2, 1, displacements, MPI_INT, &swapped);
    MPI_Type_commit(&swapped);
    const int lengths[2] = {1, 1};
    const MPI_Aint offsets[2] = {0, 8};
    const MPI_Datatype types[2] = {MPI_CHAR, MPI_DOUBLE};
    MPI_Type_create_struct(2, lengths, offsets, types, &gaps);
    MPI_Type_commit(&gaps);
    for (int root = 0; root < size; root++) {
        int *data = calloc(2 * COUNT + 2, sizeof *data);
        if (rank == root) {
            for (int i = 0; i < 2 * COUNT; i++) data[i] = i * 31 + root;
            MPI_Bcast(data, 1, every_other, root, comm);
        } else if (rank % 2 == 0) {
            MPI_Bcast(data, COUNT, MPI_INT, root, comm);
        } else {
            /* An odd number of ints: all but the last in swapped pairs, so send one more type of the same signature. */
            MPI_Datatype pairs;
            int block_lengths[2] = {COUNT / 2, 1};
            MPI_Aint block_offsets[2] = {0, (COUNT - 1) * (MPI_Aint)sizeof(int)};
            MPI_Datatype block_types[2] = {swapped, MPI_INT};
            MPI_Type_create_struct(2, block_lengths, block_offsets, block_types, &pairs);
            MPI_Type_commit(&pairs);
            MPI_Bcast(data, 1, pairs, root, comm);
            MPI_Type_free(&pairs);
        }
        add(data, sizeof(int) * 2 * COUNT);
        free(data);
        char records[64 * 16];
        memset(records, rank == root ? 0x5a : 0x11, sizeof records);
        MPI_Bcast(records, 64, gaps, root, comm);
        add(records, sizeof records);
    }
    MPI_Type_free(&every_other);
    MPI_Type_free(&swapped);
    MPI_Type_free(&gaps);
}

static int copy_called(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
    (void)comm; (void)key; (void)in; (void)out;
    ++*(int *)extra;
    *flag = 1;
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    int provided, rank, size, copies = 0, key;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* A program's attribute must not be copied by communicators that it did not make. */
    MPI_Comm_create_keyval(copy_called, MPI_COMM_NULL_DELETE_FN, &key, &copies);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &copies);
    bytes(MPI_COMM_WORLD);
    datatypes(MPI_COMM_WORLD);
    add(&copies, sizeof copies);
    const int all_kinds = argc < 2 || strcmp(argv[1], "quick") != 0;
    for (int colors = 2; all_kinds && colors <= 3; colors++) {
        MPI_Comm part;
        MPI_Comm_split(MPI_COMM_WORLD, rank % colors, -rank, &part);
        bytes(part);
        datatypes(part);
        MPI_Comm_free(&part);
    }
    bytes(MPI_COMM_SELF);
    for (int i = 0; all_kinds && i < 50; i++) { /* many communicators, one after the other, and one that is never freed */
        MPI_Comm copy;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        int value = rank == i % size ? i : -1;
        MPI_Bcast(&value, 1, MPI_INT, i % size, copy);
        add(&value, sizeof value);
        if (i < 49) MPI_Comm_free(&copy);
    }
    if (all_kinds && size > 1) { /* an intercommunicator: rank 0 of the even ranks to all odd ones */
        MPI_Comm half, inter;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 9, &inter);
        double value = 0.5;
        int root = rank % 2 == 1 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
        if (rank == 0) value = 2.5;
        MPI_Bcast(&value, 1, MPI_DOUBLE, root, inter);
        add(&value, sizeof value);
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
    /* Errors are the library's to find: a root that is none. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int value = 1, code = MPI_Bcast(&value, 1, MPI_INT, size, MPI_COMM_WORLD), class = 0;
    MPI_Error_class(code, &class);
    int is_root_error = class == MPI_ERR_ROOT;
    add(&is_root_error, sizeof is_root_error);

    unsigned long long *all = malloc(sizeof *all * (size_t)size);
    MPI_Gather(&hash, 1, MPI_UNSIGNED_LONG_LONG, all, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        add(all, sizeof *all * (size_t)size);
        printf("hash %016llx\n", hash);
    }
    free(all);
    MPI_Finalize();
    return 0;
}
