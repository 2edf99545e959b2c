/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What timing collectives costs a call: broadcasts of 8 bytes, with the preload switched off and on in turn.
 *
 * isochrone advise -- mpiexec.mpich -n 2 ./profile_overhead
 *
 * Prints on rank 0, which does not wait, the median time of a call over blocks of either kind, and the difference with its
 * quartiles over neighbouring blocks.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 401, CALLS = 500 };

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    static double time[2][BLOCKS], difference[BLOCKS];
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double data = 0;
    for (int block = 0; block < BLOCKS; block++) {
        for (int on = 0; on < 2; on++) {
            MPI_Pcontrol(on);
            MPI_Barrier(MPI_COMM_WORLD);
            const double begin = MPI_Wtime();
            for (int call = 0; call < CALLS; call++) MPI_Bcast(&data, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
            time[on][block] = (MPI_Wtime() - begin) / CALLS * 1e9;
        }
        difference[block] = time[1][block] - time[0][block];
    }
    if (rank == 0) {
        for (int on = 0; on < 2; on++) qsort(time[on], BLOCKS, sizeof(double), ascending);
        qsort(difference, BLOCKS, sizeof(double), ascending);
        printf("%.0f ns a call without, %.0f ns with; difference %.0f ns [%.0f, %.0f]\n", time[0][BLOCKS / 2],
               time[1][BLOCKS / 2], difference[BLOCKS / 2], difference[BLOCKS / 4], difference[3 * BLOCKS / 4]);
    }
    MPI_Finalize();
    return 0;
}
