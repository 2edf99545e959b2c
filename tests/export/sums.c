// SPDX-License-Identifier: BSD-3-Clause
//
// Sums of numbers of which each order of additions makes another: what comes out tells algorithms apart. For
// each size in bytes that is named, rank 0 prints a digest of an allreduce and of a reduction. After
// `prefer=COMPONENTS` they run on a communicator with that preference, by an info key of Open MPI.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t digest(const double *values, int count) {
    uint64_t hash = 14695981039346656037ULL;
    for (int i = 0; i < count; ++i) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        hash = (hash ^ bits) * 1099511628211ULL;
    }
    return hash;
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm comm = MPI_COMM_WORLD;
    for (int i = 1; i < argc; ++i) {
        if (strncmp(argv[i], "prefer=", 7) == 0) {
            MPI_Info info;
            MPI_Info_create(&info);
            MPI_Info_set(info, "ompi_comm_coll_preference", argv[i] + 7);
            MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
            MPI_Info_free(&info);
            continue;
        }
        const int count = atoi(argv[i]) / (int)sizeof(double);
        double *mine = malloc((size_t)count * sizeof *mine), *sum = malloc((size_t)count * sizeof *sum);
        for (int j = 0; j < count; ++j) mine[j] = 1.0 / (3.0 + 7.0 * rank + 0.1 * (j % 97)) * (rank % 2 ? 1e3 : 1.0);
        MPI_Allreduce(mine, sum, count, MPI_DOUBLE, MPI_SUM, comm);
        if (rank == 0) printf("allreduce %s %016llx\n", argv[i], (unsigned long long)digest(sum, count));
        MPI_Reduce(mine, sum, count, MPI_DOUBLE, MPI_SUM, 0, comm);
        if (rank == 0) printf("reduce %s %016llx\n", argv[i], (unsigned long long)digest(sum, count));
        free(mine);
        free(sum);
    }
    MPI_Finalize();
    return 0;
}
