// SPDX-License-Identifier: BSD-3-Clause
// Receives from anybody whatever comes, and broadcasts. `late PLAN TOPOLOGY RANK SECONDS` opens the plan first, that
// rank so many seconds after the others.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { numbers = 4096, rounds = 20 };

static int open_late(char **words, int rank)
{
    int (*open)(const char *, const char *) =
        (int (*)(const char *, const char *))dlsym(RTLD_DEFAULT, "isochrone_open");
    if (open == NULL) return -1;
    if (rank == atoi(words[3])) sleep((unsigned)atoi(words[4]));
    return open(words[1], words[2]);
}

static int wrong_messages(int rank, int size)
{
    int wrong = 0;
    if (rank > 0) MPI_Send(&rank, 1, MPI_INT, 0, rank, MPI_COMM_WORLD);
    for (int other = 1; rank == 0 && other < size; ++other) {
        int numbers_of_any[2048] = {0};
        int count = 0;
        MPI_Status status;
        MPI_Recv(numbers_of_any, 2048, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        wrong += count != 1 || status.MPI_TAG != status.MPI_SOURCE || numbers_of_any[0] != status.MPI_SOURCE;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    static int data[numbers];
    int rank = 0;
    int size = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int code = argc == 5 ? open_late(argv, rank) : 0;
    int wrong = wrong_messages(rank, size);
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < numbers; ++i) data[i] = rank == 0 ? round + i : -1;
        MPI_Bcast(data, numbers, MPI_INT, 0, MPI_COMM_WORLD);
        for (int i = 0; i < numbers; ++i) wrong += data[i] != round + i;
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &code, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) printf("%d wrong, open %d\n", wrong, code);
    MPI_Finalize();
    return 0;
}
