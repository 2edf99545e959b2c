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

/* Ranks that share cores would take them from those that are still in the call before: this one sleeps. */
static inline void receive_asleep(void *data, int bytes, int from) {
    MPI_Request request;
    int is_there = 0;
    PMPI_Irecv(data, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, &request);
    while (PMPI_Test(&request, &is_there, MPI_STATUS_IGNORE), !is_there)
        sleep_until(now() + 2e-4);
}

/* Waits for a moment that is lead_s from when the last rank has come here, the same on all ranks, and returns it.
 * Collective. A root that may leave a call before the others would start the next one too soon. */
static inline double start_together(int rank, double lead_s) {
    double start = 0;
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0) {
        for (int other = 1; other < ranks; other++)
            receive_asleep(NULL, 0, other);
        start = now() + lead_s;
        for (int other = 1; other < ranks; other++)
            PMPI_Send(&start, sizeof start, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    } else {
        PMPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        receive_asleep(&start, sizeof start, 0);
    }
    sleep_until(start);
    return start;
}
