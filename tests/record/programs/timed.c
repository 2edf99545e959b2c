/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the time in collectives of a run is, is known by how it is made. "idle": ranks sleep and meet once; "late":
 * the last rank sleeps before each barrier; "bcasts": nothing but broadcasts; "kinds": a few calls of each kind, on
 * several communicators; "none": no collective at all.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks;

static void idle(void) {
    usleep(400000);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void late(void) {
    for (int i = 0; i < 10; i++) {
        if (rank == ranks - 1) usleep(40000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void bcasts(int count) {
    char *data = calloc(1, 1 << 16);
    for (int i = 0; i < count; i++) MPI_Bcast(data, 1 << 16, MPI_CHAR, 0, MPI_COMM_WORLD);
    free(data);
}

static void kinds(void) {
    char data[4096];
    char all[4096 * 16];
    int sum, one = 1, counts[16], places[16];
    memset(data, 0, sizeof data);
    memset(all, 0, sizeof all);
    for (int i = 0; i < 16; i++) counts[i] = 1, places[i] = i;
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    for (int i = 0; i < 600; i++) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) MPI_Bcast(data, 1000, MPI_CHAR, 1, half);
    for (int i = 0; i < 4; i++) MPI_Bcast(data, 1000 + i, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) MPI_Bcast(data, 3000, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 5; i++) MPI_Gather(data, 100, MPI_CHAR, all, 100, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Alltoallv(all, counts, places, MPI_CHAR, data, counts, places, MPI_CHAR, MPI_COMM_WORLD);
    MPI_Bcast(data, 1000, MPI_CHAR, 0, MPI_COMM_SELF);
    MPI_Pcontrol(0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    for (int i = 0; i < 2; i++) {
        MPI_Request request;
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&half);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!strcmp(argv[1], "idle")) idle();
    if (!strcmp(argv[1], "late")) late();
    if (!strcmp(argv[1], "bcasts")) bcasts(argc > 2 ? atoi(argv[2]) : 3000);
    if (!strcmp(argv[1], "kinds")) kinds();
    if (!strcmp(argv[1], "fails")) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return !strcmp(argv[1], "fails") ? 7 : 0;
}
