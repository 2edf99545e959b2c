// SPDX-License-Identifier: BSD-3-Clause
// Exchanges in which each pair has a datatype, a count and a place of its own; with -DLARGE by large counts.
#include <mpi.h>
#include <stdio.h>

#ifdef LARGE
typedef MPI_Count Count;
typedef MPI_Aint Place;
#define EXCHANGE MPI_Alltoallw_c
#else
typedef int Count;
typedef int Place;
#define EXCHANGE MPI_Alltoallw
#endif

enum { rounds = 20, most_ranks = 8, gap = 4 };

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size, wrong = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int round = 0; round < rounds; ++round) {
        int sent[most_ranks * gap], received[most_ranks * gap];
        Count send_counts[most_ranks], receive_counts[most_ranks];
        Place from[most_ranks], to[most_ranks];
        MPI_Datatype send_types[most_ranks], receive_types[most_ranks];
        for (int i = 0; i < most_ranks * gap; ++i) sent[i] = 1000 * rank + i + round, received[i] = -1;
        for (int other = 0; other < size; ++other) {
            // Two ints to each, as one pair or as two; the last block lies first.
            const int is_pair = (rank + other + round) % 2;
            send_types[other] = is_pair ? pair : MPI_INT;
            send_counts[other] = is_pair ? 1 : 2;
            from[other] = (size - 1 - other) * gap * (int)sizeof(int);
            receive_types[other] = is_pair ? MPI_INT : pair;
            receive_counts[other] = is_pair ? 2 : 1;
            to[other] = other * gap * (int)sizeof(int);
        }
        EXCHANGE(sent, send_counts, from, send_types, received, receive_counts, to, receive_types,
                 MPI_COMM_WORLD);
        for (int i = 0; i < size * gap; ++i) {
            const int expected =
                i % gap < 2 ? 1000 * (i / gap) + (size - 1 - rank) * gap + i % gap + round : -1;
            wrong += received[i] != expected;
        }
    }
    MPI_Type_free(&pair);
    int all = 0;
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d exchanges, %d wrong values\n", rounds, all);
    MPI_Finalize();
    return 0;
}
