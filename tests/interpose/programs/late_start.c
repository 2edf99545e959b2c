// SPDX-License-Identifier: BSD-3-Clause
// A profiler behind the preload: rank LATE_RANK leaves MPI_Init LATE_S seconds after the others.
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int MPI_Init(int *count, char ***words)
{
    const int code = PMPI_Init(count, words);
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == atoi(getenv("LATE_RANK"))) sleep((unsigned)atoi(getenv("LATE_S")));
    return code;
}
