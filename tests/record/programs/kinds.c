// SPDX-License-Identifier: BSD-3-Clause
//
// Sends in every way that MPI has, in numbers that a test knows. Rank 0 prints how many values arrived wrong on all
// ranks. Each kind uses sizes of its own, so that a test tells them apart by their bytes. R ranks; "next" is
// the next rank of the world, and the last one's is 0.
//
//   kinds NAME...   of: blocking nonblocking persistent exchange onesided subcomms neighbours collectives pieces
//                   requests phases nothing threads many
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, wrong;

static void expect(int holds) {
    if (!holds) ++wrong;
}

static int next_rank(void) { return (rank + 1) % ranks; }
static int rank_before(void) { return (rank + ranks - 1) % ranks; }

static void fill(char* data, int count, int from) {
    for (int i = 0; i < count; ++i) data[i] = (char)(from + i);
}

static void check(const char* data, int count, int from) {
    for (int i = 0; i < count; ++i) expect(data[i] == (char)(from + i));
}

/// To the next rank: 3 of 100 bytes by Send, 1 of 101 by Ssend, 102 by Rsend, 103 by Bsend, and an empty one.
static void blocking(void) {
    char out[128], in[128], buffer[1024 + MPI_BSEND_OVERHEAD];
    MPI_Buffer_attach(buffer, sizeof buffer);
    for (int kind = 0; kind < 7; ++kind) {
        const int count = kind < 3 ? 100 : kind == 6 ? 0 : 98 + kind;
        MPI_Request request;
        fill(out, count, rank + kind);
        MPI_Irecv(in, count, MPI_BYTE, rank_before(), kind, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD);  // a ready send needs the receive to be there
        if (kind == 3) {
            MPI_Ssend(out, count, MPI_BYTE, next_rank(), kind, MPI_COMM_WORLD);
        } else if (kind == 4) {
            MPI_Rsend(out, count, MPI_BYTE, next_rank(), kind, MPI_COMM_WORLD);
        } else if (kind == 5) {
            MPI_Bsend(out, count, MPI_BYTE, next_rank(), kind, MPI_COMM_WORLD);
        } else {
            MPI_Send(kind == 6 ? NULL : out, count, MPI_BYTE, next_rank(), kind, MPI_COMM_WORLD);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(in, count, rank_before() + kind);
    }
    void* old;
    int size;
    MPI_Buffer_detach(&old, &size);
    MPI_Send(out, 100, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

/// To the next rank: 200 doubles by Isend and Issend each; to itself 7 bytes, which do not count.
static void nonblocking(void) {
    double out[200], in[2][200];
    MPI_Request requests[4];
    for (int i = 0; i < 200; ++i) out[i] = rank * 1000 + i;
    MPI_Irecv(in[0], 200, MPI_DOUBLE, rank_before(), 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in[1], 200, MPI_DOUBLE, rank_before(), 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, 200, MPI_DOUBLE, next_rank(), 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Issend(out, 200, MPI_DOUBLE, next_rank(), 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 200; ++i) expect(in[0][i] == rank_before() * 1000 + i && in[1][i] == in[0][i]);
    char word[8] = "itself", copy[8] = "";
    MPI_Irecv(copy, 7, MPI_CHAR, rank, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(word, 7, MPI_CHAR, rank, 3, MPI_COMM_WORLD);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    expect(strcmp(word, copy) == 0);
}

/// 5 of 3000 bytes to the next rank by one Start each, 4 of 3001 by Startall; a request that is never started.
static void persistent(void) {
    char out[3001], in[3001];
    MPI_Request requests[2], never;
    MPI_Recv_init(in, 3000, MPI_BYTE, rank_before(), 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, 3000, MPI_BYTE, next_rank(), 1, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 5; ++round) {
        fill(out, 3000, rank + round);
        MPI_Start(&requests[0]);
        MPI_Start(&requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        check(in, 3000, rank_before() + round);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Send_init(out, 3000, MPI_BYTE, next_rank(), 1, MPI_COMM_WORLD, &never);
    MPI_Request_free(&never);
    MPI_Recv_init(in, 3001, MPI_BYTE, rank_before(), 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Ssend_init(out, 3001, MPI_BYTE, next_rank(), 2, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 4; ++round) {
        fill(out, 3001, rank + round);
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        check(in, 3001, rank_before() + round);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/// To the next rank 500 bytes by Sendrecv and 501 by Sendrecv_replace.
static void exchange(void) {
    char out[501], in[501];
    fill(out, 500, rank);
    MPI_Sendrecv(out, 500, MPI_BYTE, next_rank(), 1, in, 500, MPI_BYTE, rank_before(), 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(in, 500, rank_before());
    fill(out, 501, rank);
    MPI_Sendrecv_replace(out, 501, MPI_BYTE, next_rank(), 1, rank_before(), 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    check(out, 501, rank_before());
}

/// Puts 10000 bytes to the next rank, gets 20000 from it, adds 64 ints to its, fetches and adds one int.
static void onesided(void) {
    char* memory;
    char got[20000];
    MPI_Win window;
    MPI_Win_allocate(40000, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    memset(memory, 0, 40000);
    fill(memory + 10000, 20000, rank);
    char put[10000];
    fill(put, 10000, rank);
    MPI_Win_fence(0, window);
    MPI_Put(put, 10000, MPI_BYTE, next_rank(), 0, 10000, MPI_BYTE, window);
    MPI_Get(got, 20000, MPI_BYTE, next_rank(), 10000, 20000, MPI_BYTE, window);
    MPI_Win_fence(0, window);
    check(memory, 10000, rank_before());
    check(got, 20000, next_rank());
    int ones[64], fetched = -1;
    for (int i = 0; i < 64; ++i) ones[i] = i;
    MPI_Accumulate(ones, 64, MPI_INT, next_rank(), 32000, 64, MPI_INT, MPI_SUM, window);
    MPI_Win_fence(0, window);
    MPI_Fetch_and_op(ones + 1, &fetched, MPI_INT, next_rank(), 36000, MPI_SUM, window);
    MPI_Win_fence(0, window);
    expect(fetched == 0);
    expect(((int*)(memory + 32000))[63] == 63 && ((int*)(memory + 36000))[0] == 1);
    // Reads without sending: the origin's count and type are nothing.
    int read[64];
    MPI_Get_accumulate(NULL, 0, MPI_INT, read, 64, MPI_INT, next_rank(), 32000, 64, MPI_INT, MPI_NO_OP,
                       window);
    MPI_Win_fence(0, window);
    expect(read[63] == 63);
    MPI_Win_free(&window);
}

/// In halves of the world by parity, reversed: 700 bytes to the next one of the half; 800 to the other half's first,
/// over a communicator between the two. 900 bytes broadcast from rank 1 of each half, twice.
static void subcomms(void) {
    MPI_Comm half, between;
    char out[900], in[900];
    int here, size;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_rank(half, &here);
    MPI_Comm_size(half, &size);
    fill(out, 700, rank);
    MPI_Sendrecv(out, 700, MPI_BYTE, (here + 1) % size, 1, in, 700, MPI_BYTE, (here + size - 1) % size, 1, half,
                 MPI_STATUS_IGNORE);
    for (int round = 0; round < 2; ++round) {
        fill(in, 900, here == 1 % size ? round : 77);
        MPI_Bcast(in, 900, MPI_BYTE, 1 % size, half);
        check(in, 900, round);
    }
    // Leaders are the first of each half, which are the last two of the world.
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 == (ranks - 1) % 2 ? ranks - 2 : ranks - 1, 5,
                         &between);
    MPI_Request request;
    MPI_Isend(out, 800, MPI_BYTE, 0, 2, between, &request);
    int others;
    MPI_Comm_remote_size(between, &others);
    if (here == 0) {
        for (int i = 0; i < others; ++i) MPI_Recv(in, 800, MPI_BYTE, i, 2, between, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(between);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

/// On a ring of all, not closed: 60 bytes to each neighbour by an allgather, 70 by an alltoall, with requests too.
static void neighbours(void) {
    MPI_Comm line;
    const int periodic = 0;
    char out[140], in[140];
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &line);
    fill(out, 60, rank);
    MPI_Neighbor_allgather(out, 60, MPI_BYTE, in, 60, MPI_BYTE, line);
    if (rank > 0) check(in, 60, rank - 1);
    if (rank < ranks - 1) check(in + 60, 60, rank + 1);
    MPI_Request request;
    MPI_Ineighbor_alltoall(out, 70, MPI_BYTE, in, 70, MPI_BYTE, line, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&line);
}

/// Collectives of all, of 1000 ints or of blocks of 10: those with data in place are as the others.
static void collectives(void) {
    int* all = malloc((size_t)ranks * 1000 * sizeof(int));
    int* more = malloc((size_t)ranks * 1000 * sizeof(int));
    int* counts = malloc((size_t)ranks * sizeof(int));
    int* places = malloc((size_t)ranks * sizeof(int));
    for (int i = 0; i < ranks; ++i) {
        counts[i] = 10;
        places[i] = 10 * i;
    }
    for (int i = 0; i < 1000; ++i) all[i] = rank + i;
    MPI_Allreduce(all, more, 1000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 1000; ++i) expect(more[i] == ranks * (ranks - 1) / 2 + ranks * i);
    MPI_Allreduce(MPI_IN_PLACE, all, 1000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(memcmp(all, more, 1000 * sizeof(int)) == 0);
    MPI_Reduce(all, more, 1000, MPI_INT, MPI_MAX, 1, MPI_COMM_WORLD);  // MPICH 4.0 fails with data in place here
    if (rank == 1) expect(memcmp(all, more, 1000 * sizeof(int)) == 0);
    MPI_Bcast(all, 1000, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Scan(MPI_IN_PLACE, all, 1000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(all, more, 1000, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    for (int i = 0; i < 10 * ranks; ++i) all[i] = i;
    MPI_Gather(rank == 0 ? MPI_IN_PLACE : all + 10 * rank, 10, MPI_INT, all, 10, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 10 * ranks; ++i) expect(all[i] == i);
    MPI_Scatter(all, 10, MPI_INT, rank == 0 ? MPI_IN_PLACE : more, 10, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 10 && rank > 0; ++i) expect(more[i] == 10 * rank + i);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 10, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgatherv(all + 10 * rank, 10, MPI_INT, more, counts, places, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < 10 * ranks; ++i) expect(more[i] == i);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 10, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < 10 * ranks; ++i) expect(all[i] == 10 * rank + i % 10);
    MPI_Reduce_scatter_block(all, more, 10, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter(all, more, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Request request;
    MPI_Ibcast(all, 1000, MPI_INT, 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Bcast(all, 0, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(all, 5, MPI_INT, 0, MPI_COMM_SELF);
    MPI_Barrier(MPI_COMM_WORLD);
#ifdef PERSISTENT
    MPI_Bcast_init(all, 1000, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 0; round < 3; ++round) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
#endif
    free(all);
    free(more);
    free(counts);
    free(places);
}

/// Blocks of rank r for rank s: 4 * (1 + r) bytes if s follows r, else none; gathered and scattered, 8 * (1 + r) each.
static void pieces(void) {
    int *out_counts = calloc((size_t)ranks, sizeof(int)), *in_counts = calloc((size_t)ranks, sizeof(int));
    int *places = calloc((size_t)ranks, sizeof(int)), *counts = calloc((size_t)ranks, sizeof(int));
    int* data = calloc((size_t)ranks * (size_t)ranks * 2, sizeof(int));
    int* more = calloc((size_t)ranks * (size_t)ranks * 2, sizeof(int));
    MPI_Datatype* types = malloc((size_t)ranks * sizeof(MPI_Datatype));
    for (int i = 0; i < ranks; ++i) {
        types[i] = MPI_INT;
        counts[i] = 2 * (1 + i);
        places[i] = 2 * ranks * i;
    }
    out_counts[next_rank()] = 1 + rank;
    in_counts[rank_before()] = 1 + rank_before();
    for (int i = 0; i < ranks; ++i) data[i] = rank;
    int* none = calloc((size_t)ranks, sizeof(int));
    MPI_Alltoallv(data, out_counts, none, MPI_INT, more, in_counts, none, MPI_INT, MPI_COMM_WORLD);
    expect(more[0] == rank_before());
    MPI_Alltoallw(data, out_counts, none, types, more, in_counts, none, types, MPI_COMM_WORLD);
    MPI_Gatherv(data, counts[rank], MPI_INT, more, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scatterv(data, counts, places, MPI_INT, more, counts[rank], MPI_INT, 0, MPI_COMM_WORLD);
    free(out_counts), free(in_counts), free(places), free(counts), free(data), free(more), free(types),
        free(none);
}

/// 10 bytes to the next rank in phase 1, 20 in none, 30 in phase 2, 40 in phase 5, 50 in phase 5 again after a pause.
static void phases(void) {
    char out[64] = "", in[64];
    const int levels[] = {1, 0, 2, 5, 0, 1};
    const int counts[] = {10, 20, 30, 40, 0, 50};
    for (int i = 0; i < 6; ++i) {
        MPI_Pcontrol(levels[i]);
        if (counts[i] == 0) continue;
        MPI_Sendrecv(out, counts[i], MPI_BYTE, next_rank(), 1, in, counts[i], MPI_BYTE, rank_before(), 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/// Four threads of each rank, 1000 messages of 16 bytes each to the next one, by a communicator of their own.
static MPI_Comm lanes[4];

static void* lane(void* which) {
    const int number = *(int*)which;
    char out[16], in[16];
    for (int i = 0; i < 1000; ++i) {
        MPI_Request request;
        MPI_Irecv(in, 16, MPI_BYTE, rank_before(), number, lanes[number], &request);
        fill(out, 16, i + number);
        MPI_Send(out, 16, MPI_BYTE, next_rank(), number, lanes[number]);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int k = 0; k < 16; ++k) {
            if (in[k] != (char)(i + number + k)) *(int*)which = -1;
        }
    }
    return NULL;
}

static void threads(void) {
    pthread_t running[4];
    int numbers[4] = {0, 1, 2, 3};
    for (int i = 0; i < 4; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &lanes[i]);
    for (int i = 0; i < 4; ++i) pthread_create(&running[i], NULL, lane, &numbers[i]);
    for (int i = 0; i < 4; ++i) pthread_join(running[i], NULL);
    for (int i = 0; i < 4; ++i) {
        expect(numbers[i] == i);
        MPI_Comm_free(&lanes[i]);
    }
}

static long resident_kib(void) {
    char line[128];
    long kib = -1;
    FILE* file = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, file)) sscanf(line, "VmRSS: %ld", &kib);
    fclose(file);
    return kib;
}

/// Communicators made and freed, with a message and a broadcast on each; prints how much the process grew.
static void many(int times) {
    long before = 0;
    char byte = 1, in = 0;
    for (int i = 0; i < times; ++i) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Sendrecv(&byte, 1, MPI_BYTE, next_rank(), 1, &in, 1, MPI_BYTE, rank_before(), 1, comm,
                     MPI_STATUS_IGNORE);
        MPI_Bcast(&byte, 1, MPI_BYTE, i % ranks, comm);
        MPI_Comm_free(&comm);
        if (i == times / 10) before = resident_kib();
    }
    if (rank == 0) printf("grew by %ld KiB\n", resident_kib() - before);
}

int main(int argc, char** argv) {
    int wrong_on_all = 0, provided = 0;
    const int wants_threads = argc > 1 && strcmp(argv[1], "threads") == 0;
    MPI_Init_thread(&argc, &argv, wants_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "blocking") == 0) blocking();
        if (strcmp(argv[i], "nonblocking") == 0) nonblocking();
        if (strcmp(argv[i], "persistent") == 0) persistent();
        if (strcmp(argv[i], "exchange") == 0) exchange();
        if (strcmp(argv[i], "onesided") == 0) onesided();
        if (strcmp(argv[i], "subcomms") == 0) subcomms();
        if (strcmp(argv[i], "neighbours") == 0) neighbours();
        if (strcmp(argv[i], "collectives") == 0) collectives();
        if (strcmp(argv[i], "pieces") == 0) pieces();
        if (strcmp(argv[i], "phases") == 0) phases();
        if (strcmp(argv[i], "threads") == 0) threads();
        if (strcmp(argv[i], "many") == 0) many(atoi(argv[++i]));
        if (strcmp(argv[i], "exit") == 0) _Exit(atoi(argv[++i]));
        if (strcmp(argv[i], "abort") == 0 && rank == 0) MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Pcontrol(0);  // what follows is the test's own
    MPI_Reduce(&wrong, &wrong_on_all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d wrong values\n", wrong_on_all);
    MPI_Finalize();
    return 0;
}
