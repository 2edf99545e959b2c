/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The loops of the OSU Micro-Benchmarks for collectives, and the same with starts that are aligned:
 *
 *   osu_loops START CALLS COLLECTIVE BYTES [COLLECTIVE BYTES ...]
 *
 * START is "barrier", as in OSU's programs: each rank times its own calls, a barrier follows each, and what
 * is reported is the mean of a rank's calls; or "clock": all ranks start a call at one moment of one clock,
 * and its time is from there to the end of the slowest. They agree on the first start, and the others follow
 * as soon as most calls are over, as measured among calls that followed each other so before: 1.3 times what
 * these took apart, or 1.1 times with "clock/1.1"; one that begins while another still runs is left out. Or
 * "rested": the same, but they agree on each start, and rest before
 * it for much longer than that takes. Clocks are compared between ranks, so all run on one machine, as in a
 * lab. Prints a line for each collective and size, in seconds:
 *
 *   COLLECTIVE BYTES AVG MAX SLOWEST APART
 *
 * AVG, MAX: over ranks, of the mean time of a rank's calls ("Avg Latency" and "Max Latency" of OSU's).
 * SLOWEST: mean over calls, from the first start of a call to its last end. APART: from its first start to
 * its last.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

static const int WARM_UP = 3;
/* Somewhat more than it takes to tell all ranks of a start over a lab's links; and several times as long. */
static const double LEAD_S = 0.008, REST_S = 0.03;
/* From one start to the next of calls that follow each other, in times of what such a call takes. That is
 * found by some calls after others: after a rest a call takes longer, and so it does where the next is far
 * away. */
static const double USUAL_WINDOW = 1.3;
static const int REHEARSALS = 3, REHEARSED = 10;

enum Start { AFTER_BARRIER, IN_TURN, TOGETHER };

/* Over calls, in seconds. */
struct Means {
    double own;     /* from this rank's start to its end */
    double slowest; /* from the first start to the last end */
    double apart;   /* from the first start to the last */
};

static void call(const char* name, void* from, void* to, int bytes) {
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

/* Makes some calls, and says when each began and ended on this rank. Calls in turn begin `window_s` apart;
 * others that start together do so `lead_s` after they agreed. */
static void run(enum Start how, double window_s, double lead_s, const char* name, void* from, void* to,
                int bytes, int calls, double* starts, double* ends) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < calls; i++) {
        if (how == AFTER_BARRIER) {
            starts[i] = now();
        } else if (how == TOGETHER || i == 0) {
            starts[i] = start_together(rank, lead_s);
        } else {
            starts[i] = starts[i - 1] + window_s;
            sleep_until(starts[i]);
        }
        call(name, from, to, bytes);
        ends[i] = now();
        if (how == AFTER_BARRIER) MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Of calls; of those in turn without what began before another ended. Collective. */
static struct Means means_of(enum Start how, int calls, const double* starts, const double* ends) {
    struct Means sum = {0, 0, 0};
    int counted = 0;
    double before = 0;
    for (int i = 0; i < calls; i++) {
        double first, last, end;
        MPI_Allreduce(&starts[i], &first, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
        MPI_Allreduce(&starts[i], &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(&ends[i], &end, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        const int counts = how != IN_TURN || i == 0 || before <= first;
        before = end;
        if (!counts) continue;
        counted++;
        sum.own += ends[i] - starts[i];
        sum.slowest += end - first;
        sum.apart += last - first;
    }
    return (struct Means){sum.own / counted, sum.slowest / counted, sum.apart / counted};
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
    const int rested = strcmp(argv[1], "rested") == 0, in_turn = strncmp(argv[1], "clock", 5) == 0;
    const double window = argv[1][5] == '/' ? atof(argv[1] + 6) : USUAL_WINDOW;
    const enum Start how = rested ? TOGETHER : in_turn ? IN_TURN : AFTER_BARRIER;
    const double lead_s = rested ? REST_S : LEAD_S;
    const int calls = atoi(argv[2]), most = calls > REHEARSED ? calls : REHEARSED;
    double *starts = malloc(sizeof(double) * (size_t)most), *ends = malloc(sizeof(double) * (size_t)most);
    for (int at = 3; at + 1 < argc; at += 2) {
        const char* name = argv[at];
        const int bytes = atoi(argv[at + 1]);
        void *from = calloc((size_t)ranks, (size_t)bytes), *to = calloc((size_t)ranks, (size_t)bytes);
        const enum Start first = in_turn ? TOGETHER : how;
        run(first, 0, lead_s, name, from, to, bytes, WARM_UP, starts, ends);
        double usual = 0;
        if (in_turn) {
            usual = means_of(first, WARM_UP, starts, ends).slowest;
            for (int i = 0; i < REHEARSALS; i++) {
                run(how, window * usual, lead_s, name, from, to, bytes, REHEARSED, starts, ends);
                usual = means_of(how, REHEARSED, starts, ends).slowest;
            }
        }
        run(how, window * usual, lead_s, name, from, to, bytes, calls, starts, ends);
        const struct Means means = means_of(how, calls, starts, ends);
        double sum, max;
        MPI_Reduce(&means.own, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Reduce(&means.own, &max, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%s %d %.9f %.9f %.9f %.9f\n", name, bytes, sum / ranks, max, means.slowest, means.apart);
        free(from), free(to);
    }
    free(starts), free(ends);
    MPI_Finalize();
    return 0;
}
