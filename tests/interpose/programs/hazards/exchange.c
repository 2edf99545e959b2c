/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One kind of memory sent, and another received in. */
#include <stdlib.h>
#include <string.h>

#include "hazards.h"

void exchange(const Job *job, Memory from, Memory to) {
    for (int root = 0; root < job->size; root++) {
        const Memory here = job->rank == root ? from : to;
        unsigned char *sent = new_pattern(from.bytes, 1u + (unsigned)root);
        unsigned char *mine = new_pattern(here.bytes, job->rank == root ? 1u + (unsigned)root : 100u);
        unsigned char *wanted = malloc(here.bytes + 1);
        memcpy(wanted, mine, here.bytes);
        if (job->rank != root) {
            int room, position = 0;
            MPI_Pack_size(from.count, from.type, MPI_COMM_WORLD, &room);
            char *packed = malloc((size_t)room + 1);
            MPI_Pack(sent + from.at, from.count, from.type, packed, room, &position, MPI_COMM_WORLD);
            position = 0;
            MPI_Unpack(packed, room, &position, wanted + to.at, to.count, to.type, MPI_COMM_WORLD);
            free(packed);
        }
        MPI_Bcast(mine + here.at, here.count, here.type, root, MPI_COMM_WORLD);
        for (size_t i = 0; i < here.bytes; i++) {
            if (mine[i] != wanted[i]) die("byte %zu from root %d is wrong on rank %d", i, root, job->rank);
        }
        free(sent);
        free(mine);
        free(wanted);
    }
}

void exchange_same(const Job *job, Memory memory) { exchange(job, memory, memory); }

void exchange_once(const Job *job, MPI_Datatype type, int count, size_t bytes, size_t at) {
    MPI_Type_commit(&type);
    exchange_same(job, (Memory){count, type, bytes, at});
    MPI_Type_free(&type);
}

void expect_ints(const Job *job, const int *data, int count, int first) {
    for (int i = 0; i < count; i++) {
        if (data[i] != first + i) die("int %d is wrong on rank %d", i, job->rank);
    }
}
