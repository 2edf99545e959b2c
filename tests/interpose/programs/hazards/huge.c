/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "hazards.h"

/* One element of more than 2 GiB; what is where is known from its place, so that there is one buffer only. */
void huge(const Job *job) {
    enum { BLOCK = 1 << 20 };
    const int blocks = 2400, gap = is(job, "gaps") ? 4096 : 0;
    const size_t stride = BLOCK + (size_t)gap, bytes = stride * (size_t)blocks;
    MPI_Datatype type;
    MPI_Type_vector(blocks, BLOCK, BLOCK + gap, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    unsigned char *data = malloc(bytes);
    if (data == NULL) die("no memory for %zu bytes", bytes);
    memset(data, 0xee, bytes);
    for (int b = 0; b < blocks && job->rank == 0; b++) pattern(data + stride * (size_t)b, BLOCK, (unsigned)b);
    MPI_Bcast(data, 1, type, 0, MPI_COMM_WORLD);
    unsigned char *wanted = malloc(BLOCK);
    for (int b = 0; b < blocks; b++) {
        const unsigned char *block = data + stride * (size_t)b;
        pattern(wanted, BLOCK, (unsigned)b);
        if (memcmp(block, wanted, BLOCK) != 0) die("block %d is wrong on rank %d", b, job->rank);
        for (int i = 0; i < gap && b < blocks - 1; i++) {
            if (block[BLOCK + i] != 0xee) die("the gap behind block %d is written to", b);
        }
    }
    free(wanted);
    free(data);
    MPI_Type_free(&type);
    broadcast_all(MPI_COMM_WORLD, 1u);
}
