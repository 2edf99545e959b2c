/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The loops of the OSU Micro-Benchmarks for collectives, and the same with starts that are aligned:
 *
 *   osu_loops START CALLS COLLECTIVE BYTES [COLLECTIVE BYTES ...]
 *
 * START is "barrier", as in OSU's programs: each rank times its own calls, a barrier follows each, and what is
 * reported is the mean of a rank's calls; or "clock": all ranks start a call at one moment of one clock, and its
 * time is from there to the end of the slowest. They agree on the first start, and the others follow as soon as most
 * calls are over; one that begins while another still runs is left out. Or "rested": the same, but they agree on each
 * start, and rest before it for much longer than that takes. Clocks are compared between ranks, so all run on one
 * machine, as in a lab. Prints a line for each collective and size, in seconds:
 *
 *   COLLECTIVE BYTES AVG MAX SLOWEST APART
 *
 * AVG, MAX: over ranks, of the mean time of a rank's calls ("Avg Latency" and "Max Latency" of OSU's).
 * SLOWEST: mean over calls, from the first start of a call to its last end. APART: from its first start to its last.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

static const int WARM_UP = 3;
/* Somewhat more than it takes to tell all ranks of a start over a lab's links; and several times as long. */
static const double LEAD_S = 0.008, REST_S = 0.03;
/* From one start to the next, in times of the last call before that does not count. */
static const double WINDOW = 1.3;

static void call(const char *name, void *from, void *to, int bytes) {
    const int floats = bytes / (int)sizeof(float);
    if (strcmp(name, "bcast") == 0)
        MPI_Bcast(from, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    else if (strcmp(name, "reduce") == 0)
        MPI_Reduce(from, to, floats, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
    else if (strcmp(name, "allreduce") == 0)
        MPI_Allreduce(from, to, floats, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(name, "alltoall") == 0)
        MPI_Alltoall(from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, MPI_COMM_WORLD);
    else
        MPI_Abort(MPI_COMM_WORLD, 2);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
    const int rested = strcmp(argv[1], "rested") == 0, in_turn = strcmp(argv[1], "clock") == 0;
    const int aligned = rested || in_turn;
    const int calls = atoi(argv[2]);
    for (int at = 3; at + 1 < argc; at += 2) {
        const int bytes = atoi(argv[at + 1]);
        void *from = calloc((size_t)ranks, (size_t)bytes), *to = calloc((size_t)ranks, (size_t)bytes);
        double mine = 0, slowest = 0, apart = 0, usual = 0, before = 0;
        double *starts = malloc(sizeof(double) * (size_t)calls), *ends = malloc(sizeof(double) * (size_t)calls);
        for (int i = -WARM_UP; i < calls; i++) {
            double start = now();
            if (in_turn && i > 0) {
                start = starts[i - 1] + WINDOW * usual;
                sleep_until(start);
            } else if (aligned) {
                start = start_together(rank, rested ? REST_S : LEAD_S);
            }
            call(argv[at], from, to, bytes);
            const double end = now();
            if (!aligned) MPI_Barrier(MPI_COMM_WORLD);
            if (i < 0) {
                usual = end - start;
                if (i == -1) MPI_Allreduce(MPI_IN_PLACE, &usual, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
                continue;
            }
            starts[i] = start;
            ends[i] = end;
        }
        int counted = 0;
        for (int i = 0; i < calls; i++) {
            double first, last, end;
            MPI_Allreduce(&starts[i], &first, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
            MPI_Allreduce(&starts[i], &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            MPI_Allreduce(&ends[i], &end, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            const int counts = !in_turn || i == 0 || before <= first;
            before = end;
            if (!counts) continue;
            counted++;
            mine += ends[i] - starts[i];
            slowest += end - first;
            apart += last - first;
        }
        mine /= counted, slowest /= counted, apart /= counted;
        double sum, max;
        MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Reduce(&mine, &max, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0) printf("%s %d %.9f %.9f %.9f %.9f\n", argv[at], bytes, sum / ranks, max, slowest, apart);
        free(from), free(to), free(starts), free(ends);
    }
    MPI_Finalize();
    return 0;
}
