// SPDX-License-Identifier: BSD-3-Clause
//
// Groups of ranks that send one another much inside the group and little outside, as in Getmanskiy et al.,
// "Optimizing rank-to-node mapping for MPI programs on large clusters". Rank r is in group r % GROUPS, so
// that ranks in the launcher's order are far from those that they talk to.
//
//   mpicc -O2 groups.c -o groups
//   mpiexec -n 16 ./groups [GROUPS [ITERATIONS [INTRA [INTER]]]]
//
// In each of ITERATIONS (100) a rank exchanges INTRA (10000) doubles with every other rank of its group, and
// INTER (10) doubles with one rank of the next group and one of the group before. GROUPS is 2 if not given.
// Rank 0 prints the seconds of the loop on the slowest rank, and a checksum of what was received, a line
// each. The checksum does not depend on where the ranks run.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1 << 27 };

typedef struct {
    int rank;
    int doubles;
    double* received;
} Peer;

/// The word as a whole number from 1 to MOST, the default where there is none, 0 where it is something else.
static int number(int argc, char** argv, int at, int otherwise) {
    if (at >= argc) return otherwise;
    char* end;
    const long value = strtol(argv[at], &end, 10);
    return *argv[at] == '\0' || *end != '\0' || value < 1 || value > MOST ? 0 : (int)value;
}

static Peer peer_of(int rank, int doubles) {
    return (Peer){rank, doubles, malloc((size_t)doubles * sizeof(double))};
}

/// Fills in those that a rank exchanges with, and returns how many they are.
static int find_peers(Peer* peers, int rank, int ranks, int groups, int intra, int inter) {
    int count = 0;
    for (int other = rank % groups; other < ranks; other += groups) {
        if (other != rank) peers[count++] = peer_of(other, intra);
    }
    // Those with the same number within their groups; the last number need not be in all of them.
    const int first = rank - rank % groups;
    const int next = first + (rank - first + 1) % groups;
    const int before = first + (rank - first + groups - 1) % groups;
    if (next != rank && next < ranks) peers[count++] = peer_of(next, inter);
    if (before != rank && before != next && before < ranks) peers[count++] = peer_of(before, inter);
    return count;
}

/// Sends each peer its doubles, both ends of which are `value`, and receives as many.
static void exchange(const Peer* peers, int count, double* data, double value, MPI_Request* requests) {
    for (int i = 0; i < count; ++i) {
        MPI_Irecv(peers[i].received, peers[i].doubles, MPI_DOUBLE, peers[i].rank, 0, MPI_COMM_WORLD,
                  &requests[i]);
        data[peers[i].doubles - 1] = value;
    }
    data[0] = value;
    for (int i = 0; i < count; ++i) {
        MPI_Isend(data, peers[i].doubles, MPI_DOUBLE, peers[i].rank, 0, MPI_COMM_WORLD, &requests[count + i]);
    }
    MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
    int ranks, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int groups = number(argc, argv, 1, ranks < 2 ? 1 : 2);
    const int iterations = number(argc, argv, 2, 100);
    const int intra = number(argc, argv, 3, 10000);
    const int inter = number(argc, argv, 4, 10);
    if (argc > 5 || !groups || groups > ranks || !iterations || !intra || !inter) {
        if (rank == 0) {
            fprintf(stderr,
                    "usage: groups [GROUPS [ITERATIONS [INTRA [INTER]]]], whole numbers from 1 to %d, "
                    "and at most as many groups as ranks\n",
                    MOST);
        }
        MPI_Finalize();
        return 2;
    }
    Peer* peers = malloc((size_t)(ranks + 2) * sizeof *peers);
    const int count = find_peers(peers, rank, ranks, groups, intra, inter);
    MPI_Request* requests = malloc((size_t)(2 * count + 1) * sizeof *requests);
    double* data = calloc((size_t)(intra > inter ? intra : inter), sizeof *data);
    double received = 0, checksum = 0, slowest = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int iteration = 0; iteration < iterations; ++iteration) {
        exchange(peers, count, data, rank + iteration, requests);
        for (int i = 0; i < count; ++i) {
            received += (rank + 1.0) * (peers[i].received[0] + peers[i].received[peers[i].doubles - 1]);
        }
    }
    const double mine = MPI_Wtime() - begin;
    MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&received, &checksum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%.9f s\nchecksum %.0f\n", slowest, checksum);
    for (int i = 0; i < count; ++i) free(peers[i].received);
    free(peers);
    free(requests);
    free(data);
    MPI_Finalize();
    return 0;
}
