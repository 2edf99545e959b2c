/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One clock for ranks of one machine, as those of a lab are, and starts that they agree on. That goes by messages
 * between two ranks, which no preload takes the place of.
 */
#pragma once

#include <mpi.h>
#include <time.h>

/* Seconds. */
static inline double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Waits for a moment of that clock. */
static inline void sleep_until(double moment) {
    struct timespec until = {(time_t)moment, (long)(1e9 * (moment - (double)(time_t)moment))};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* Waits for a moment that is lead_s from now on rank 0, the same on all ranks, and returns it. Collective. */
static inline double start_together(int rank, double lead_s) {
    double start = rank == 0 ? now() + lead_s : 0;
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int to = 1; rank == 0 && to < ranks; to++)
        PMPI_Send(&start, 1, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
    if (rank != 0)
        PMPI_Recv(&start, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sleep_until(start);
    return start;
}
