/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Legal programs that a library in front of MPI_Bcast could break, one for each first word on the command
 * line. A second word is a variant, a third how often. Each checks its own data; rank 0 ends with a line
 * "ok ...", and what is printed is the same whatever runs the broadcasts. Wrong data end the job with an exit
 * code that is not 0.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What every case is given. */
typedef struct {
    int rank, size;      /* in the world */
    const char *variant; /* "" if there is none */
    int times;           /* 0 if nothing is said */
} Job;

static void die(const char *format, ...) {
    va_list values;
    va_start(values, format);
    fprintf(stderr, "hazards: ");
    vfprintf(stderr, format, values);
    fprintf(stderr, "\n");
    va_end(values);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static int is(const Job *job, const char *variant) { return strcmp(job->variant, variant) == 0; }

static void pattern(unsigned char *data, size_t bytes, unsigned seed) {
    for (size_t i = 0; i < bytes; i++) data[i] = (unsigned char)(i * 131u + (i >> 8) * 31u + seed * 29u + 1u);
}

static unsigned char *new_pattern(size_t bytes, unsigned seed) {
    unsigned char *data = malloc(bytes + 1);
    if (data == NULL) die("no memory for %zu bytes", bytes);
    pattern(data, bytes, seed);
    return data;
}

/* One broadcast of bytes, whose data are checked on every rank. */
static void broadcast(MPI_Comm comm, int root, int bytes, unsigned seed) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    unsigned char *data = new_pattern((size_t)bytes, rank == root ? seed : seed + 77u);
    unsigned char *wanted = new_pattern((size_t)bytes, seed);
    MPI_Bcast(data, bytes, MPI_BYTE, root, comm);
    if (memcmp(data, wanted, (size_t)bytes) != 0)
        die("%d bytes from rank %d are wrong on rank %d", bytes, root, rank);
    free(data);
    free(wanted);
}

/* From every root, a few sizes. */
static void broadcast_all(MPI_Comm comm, unsigned seed) {
    int size;
    MPI_Comm_size(comm, &size);
    for (int root = 0; root < size; root++) {
        broadcast(comm, root, 1, seed + (unsigned)root);
        broadcast(comm, root, 5003, seed + (unsigned)root + 1u);
    }
}

/* Ranks come at different times, in another order each time. */
static void stagger(const Job *job, int i) { usleep((useconds_t)((job->rank * 7 + i * 3) % 5) * 200u); }

/* One line with the values of all ranks. */
static void print_of_all(const Job *job, const char *what, const int *values, int count) {
    int *all = malloc(sizeof *all * (size_t)(count * job->size));
    MPI_Gather(values, count, MPI_INT, all, count, MPI_INT, 0, MPI_COMM_WORLD);
    if (job->rank == 0) {
        printf("%s:", what);
        for (int i = 0; i < count * job->size; i++) printf("%s%d", i % count == 0 ? " " : "/", all[i]);
        printf("\n");
    }
    free(all);
}

static int class_of(int code) {
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    return class;
}

/* ---- communicators ------------------------------------------------------------------------------------ */

/* Blocking collectives while a communicator is being made. Whoever makes one of its own in the first
 * broadcast does so beside a pending MPI_Comm_idup: both then ask for a number at once, and not in one order
 * on all ranks. */
static void idup(const Job *job) {
    for (int i = 0; i < job->times; i++) {
        MPI_Comm parent = MPI_COMM_WORLD, other = MPI_COMM_NULL, made[4];
        MPI_Request requests[4];
        const int count = is(job, "several") ? 4 : 1;
        /* The first time it is the first broadcast of all. */
        if (i > 0) MPI_Comm_dup(MPI_COMM_WORLD, &parent);
        if (is(job, "other")) MPI_Comm_dup(MPI_COMM_WORLD, &other);
        stagger(job, i);
        for (int k = 0; k < count; k++) MPI_Comm_idup(parent, &made[k], &requests[k]);
        if (other != MPI_COMM_NULL) broadcast(other, i % job->size, 300, (unsigned)i);
        broadcast(parent, i % job->size, 3000, (unsigned)i);
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        for (int k = 0; k < count; k++) {
            broadcast(made[k], (i + k) % job->size, 700, (unsigned)(i + k));
            MPI_Comm_free(&made[k]);
        }
        if (other != MPI_COMM_NULL) MPI_Comm_free(&other);
        if (i > 0) MPI_Comm_free(&parent);
    }
}

/* Graphs of processes, made in both ways between broadcasts on the old and the new communicators. Each is
 * made of a fresh duplicate and each rank gives its own edges: where rank 0 gives those of all and the world
 * is used over and over, Open MPI 4.1 hangs by itself, in MPI_Dist_graph_create, in most runs of 60. */
static void graphs(const Job *job) {
    for (int i = 0; i < job->times; i++) {
        MPI_Comm old, adjacent, graph;
        MPI_Comm_dup(MPI_COMM_WORLD, &old);
        const int before = (job->rank + job->size - 1) % job->size, after = (job->rank + 1) % job->size;
        if (i % 2 == 0) broadcast(old, 0, 100, 1u); /* else the first broadcast is after the graph */
        MPI_Dist_graph_create_adjacent(old, 1, &before, MPI_UNWEIGHTED, 1, &after, MPI_UNWEIGHTED,
                                       MPI_INFO_NULL, 0, &adjacent);
        broadcast(adjacent, i % job->size, 2000, (unsigned)i);
        broadcast(MPI_COMM_WORLD, 0, 10, (unsigned)i);
        const int degree = 1;
        MPI_Dist_graph_create(old, 1, &job->rank, &degree, &after, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
        broadcast(old, (i + 1) % job->size, 2000, (unsigned)i);
        broadcast(graph, i % job->size, 300, (unsigned)i + 5u);
        broadcast(adjacent, 0, 1, (unsigned)i);
        if (i % 3 == 0) MPI_Comm_free(&old);
        MPI_Comm_free(&graph);
        MPI_Comm_free(&adjacent);
        if (old != MPI_COMM_NULL) MPI_Comm_free(&old);
    }
}

/* As many duplicates as the library can have, each with a broadcast; how many is printed. */
static void contexts(const Job *job) {
    MPI_Comm *made = malloc(sizeof *made * (size_t)job->times);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int again = 0; again < 2; again++) {
        int count = 0;
        while (count < job->times && MPI_Comm_dup(MPI_COMM_WORLD, &made[count]) == MPI_SUCCESS) {
            broadcast(made[count], count % job->size, 40, (unsigned)count);
            count++;
        }
        for (int i = 0; i < count; i++) broadcast(made[i], (i + 1) % job->size, 50, (unsigned)i);
        broadcast_all(MPI_COMM_WORLD, 9u);
        print_of_all(job, "duplicates", &count, 1);
        for (int i = 0; i < count; i++) MPI_Comm_free(&made[i]);
    }
    free(made);
}

static long resident_kib(void) {
    char line[256];
    long value = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (sscanf(line, "VmRSS: %ld", &value) == 1) break;
    }
    if (status != NULL) fclose(status);
    return value;
}

/* Communicators come and go, and nothing is left of them. */
static void churn(const Job *job) {
    long before = 0;
    for (int i = 0; i < job->times; i++) {
        if (i == 10000) before = resident_kib();
        MPI_Comm copy;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        broadcast(copy, i % job->size, 64, (unsigned)i);
        if (i % 8 == 0) MPI_Comm_disconnect(&copy);
        else MPI_Comm_free(&copy);
    }
    const long growth = resident_kib() - before;
    if (before <= 0 || growth > 4 * 1024)
        die("rank %d has grown by %ld KiB, from %ld", job->rank, growth, before);
}

/* One thread of many; all that it shares with the others is the world. */
typedef struct {
    const Job *job;
    int index;
    MPI_Comm own; /* of this thread, and of the threads with this index on the other ranks */
    pthread_barrier_t *start;
} Thread;

static unsigned next(unsigned *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

static void *run_thread(void *argument) {
    const Thread *self = argument;
    const Job *job = self->job;
    unsigned state = 1000u + (unsigned)self->index; /* the same on all ranks */
    pthread_barrier_wait(self->start);
    /* The first broadcasts of all at once, and on each rank another thread comes first. */
    usleep((useconds_t)((self->index + job->rank) % 4) * 1000u);
    broadcast(self->own, self->index % job->size, 1000, next(&state));
    MPI_Comm part;
    MPI_Comm_split(self->own, job->size > 2 && job->rank == job->size - 1, -job->rank, &part);
    int part_size;
    MPI_Comm_size(part, &part_size);
    for (int i = 0; i < job->times; i++) {
        const int root = (int)(next(&state) % (unsigned)job->size);
        const int bytes = (int)(next(&state) % (i % 50 == 0 ? 100000u : 3000u));
        if (i % 4 == 1) broadcast(part, root % part_size, bytes, state);
        else broadcast(self->own, root, bytes, state);
        if (i % 100 == 7) {
            MPI_Comm copy;
            MPI_Comm_dup(self->own, &copy);
            broadcast(copy, root, bytes / 2, state);
            MPI_Comm_free(&copy);
        }
    }
    MPI_Comm_free(&part);
    return NULL;
}

/* Threads that broadcast at once, each on communicators of its own, and make and free some. */
static void threads(const Job *job) {
    enum { THREADS = 4 };
    Thread all[THREADS];
    pthread_t handles[THREADS];
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, THREADS);
    for (int t = 0; t < THREADS; t++) {
        all[t] = (Thread){job, t, MPI_COMM_NULL, &start};
        MPI_Comm_dup(MPI_COMM_WORLD, &all[t].own);
    }
    for (int t = 0; t < THREADS; t++) pthread_create(&handles[t], NULL, run_thread, &all[t]);
    for (int t = 0; t < THREADS; t++) pthread_join(handles[t], NULL);
    for (int t = 0; t < THREADS; t++) MPI_Comm_free(&all[t].own);
    pthread_barrier_destroy(&start);
}

/* Collectives that have begun, and receives of anything from anybody, while broadcasts run on overlapping
 * communicators: none takes what is another's. */
static void overlap(const Job *job) {
    enum { PAIRS = 3, COMMS = PAIRS + 3 };
    MPI_Comm comms[COMMS];
    for (int pair = 0; pair < PAIRS; pair++) { /* of three ranks each two; all others are by themselves */
        const int in = job->rank < 3 && job->rank != pair;
        MPI_Comm_split(MPI_COMM_WORLD, in ? 0 : 1 + job->rank, -job->rank, &comms[pair]);
    }
    comms[PAIRS] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[PAIRS + 1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -job->rank, &comms[PAIRS + 2]);
    const int next_rank = (job->rank + 1) % job->size;
    for (int i = 0; i < job->times; i++) {
        int got[2] = {-1, -1}, sum = 0, one = 1, word = job->rank == i % job->size ? i : -1, found = 1;
        MPI_Request requests[5];
        MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&got[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[PAIRS + 1], &requests[1]);
        MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]);
        MPI_Ibcast(&word, 1, MPI_INT, i % job->size, MPI_COMM_WORLD, &requests[3]);
        MPI_Ibarrier(comms[PAIRS + 1], &requests[4]);
        stagger(job, i);
        for (int c = 0; c < COMMS; c++) {
            const int which = (c + i) % COMMS;
            int size;
            MPI_Comm_size(comms[which], &size);
            broadcast(comms[which], (i + c) % size, 400 * (c + 1), (unsigned)(i + c));
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[which], &found, MPI_STATUS_IGNORE);
            if (found) die("a message of a broadcast can be seen");
        }
        MPI_Barrier(MPI_COMM_WORLD); /* until all have looked */
        MPI_Send(&i, 1, MPI_INT, next_rank, i, MPI_COMM_WORLD);
        MPI_Send(&i, 1, MPI_INT, next_rank, 0, comms[PAIRS + 1]);
        MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
        if (got[0] != i || got[1] != i || sum != job->size || word != i) die("round %d is wrong", i);
    }
    for (int c = 0; c < COMMS; c++) {
        if (c != PAIRS) MPI_Comm_free(&comms[c]);
    }
}

/* Between the two halves of the world, from each half. */
static void between_halves(const Job *job) {
    MPI_Comm half, inter, merged;
    const int side = job->rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, job->rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 9, &inter);
    for (int sending = 0; sending < 2; sending++) {
        int half_rank;
        MPI_Comm_rank(half, &half_rank);
        const int root = side != sending ? 0 : half_rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
        int values[300];
        for (int i = 0; i < 300; i++) values[i] = root == MPI_ROOT ? i + sending : -1;
        MPI_Bcast(values, 300, MPI_INT, root, inter);
        for (int i = 0; i < 300 && side != sending; i++) {
            if (values[i] != i + sending) die("rank %d has wrong data of the other half", job->rank);
        }
    }
    MPI_Intercomm_merge(inter, side, &merged);
    broadcast_all(half, 3u);
    broadcast_all(merged, 4u);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    broadcast_all(merged, 5u);
    MPI_Comm_free(&merged);
}

/* Every kind of communicator that a program has. */
static void kinds(const Job *job) {
    MPI_Comm comm, part;
    MPI_Group all, some;
    broadcast_all(MPI_COMM_SELF, 1u);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    broadcast_all(comm, 2u);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -job->rank, &comm); /* the world, backwards */
    broadcast_all(comm, 3u);
    MPI_Comm_split(comm, job->rank % 2, job->rank, &part); /* of which the even and the odd ones */
    broadcast_all(part, 4u);
    MPI_Comm_free(&comm);
    broadcast_all(part, 5u); /* a part outlives what it was made of */
    MPI_Comm_free(&part);
    MPI_Comm_split(MPI_COMM_WORLD, job->rank % 2 == 1 ? 0 : MPI_UNDEFINED, 0, &part); /* some have none */
    if (part != MPI_COMM_NULL) {
        broadcast_all(part, 6u);
        MPI_Comm_free(&part);
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part);
    broadcast_all(part, 7u);
    MPI_Comm_free(&part);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    const int last_and_first[2] = {job->size - 1, 0};
    MPI_Group_incl(all, 2, last_and_first, &some);
    MPI_Comm_create(MPI_COMM_WORLD, some, &part); /* collective over all of the world */
    if (part != MPI_COMM_NULL) {
        broadcast_all(part, 8u);
        MPI_Comm_free(&part);
    }
    if (job->rank == 0 || job->rank == job->size - 1) { /* collective over the two only */
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 5, &part);
        broadcast_all(part, 9u);
        MPI_Comm_free(&part);
    }
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    const int sides[2] = {job->size, 1}, wraps[2] = {1, 0};
    MPI_Cart_create(MPI_COMM_WORLD, 2, sides, wraps, 0, &comm);
    broadcast_all(comm, 10u);
    MPI_Comm_free(&comm);
    between_halves(job);
    broadcast_all(MPI_COMM_WORLD, 11u);
}

/* ---- datatypes ---------------------------------------------------------------------------------------- */

/* How memory is sent or received: so many of a type, from `at` bytes behind the start of `bytes` bytes. */
typedef struct {
    int count;
    MPI_Datatype type;
    size_t bytes, at;
} Memory;

/* From every root: the root sends one kind of memory, all others receive in another. What is wanted is made
 * by MPI_Pack and MPI_Unpack on each rank; gaps must stay as they were. */
static void exchange(const Job *job, Memory from, Memory to) {
    for (int root = 0; root < job->size; root++) {
        const Memory here = job->rank == root ? from : to;
        unsigned char *sent = new_pattern(from.bytes, 1u + (unsigned)root);
        unsigned char *mine = new_pattern(here.bytes, job->rank == root ? 1u + (unsigned)root : 100u);
        unsigned char *wanted = malloc(here.bytes + 1);
        memcpy(wanted, mine, here.bytes);
        if (job->rank != root) {
            int room, position = 0;
            MPI_Pack_size(from.count, from.type, MPI_COMM_WORLD, &room);
            char *packed = malloc((size_t)room + 1);
            MPI_Pack(sent + from.at, from.count, from.type, packed, room, &position, MPI_COMM_WORLD);
            position = 0;
            MPI_Unpack(packed, room, &position, wanted + to.at, to.count, to.type, MPI_COMM_WORLD);
            free(packed);
        }
        MPI_Bcast(mine + here.at, here.count, here.type, root, MPI_COMM_WORLD);
        for (size_t i = 0; i < here.bytes; i++) {
            if (mine[i] != wanted[i]) die("byte %zu from root %d is wrong on rank %d", i, root, job->rank);
        }
        free(sent);
        free(mine);
        free(wanted);
    }
}

static void exchange_same(const Job *job, Memory memory) { exchange(job, memory, memory); }

/* Commits a type, exchanges so many of it, frees it. */
static void exchange_once(const Job *job, MPI_Datatype type, int count, size_t bytes, size_t at) {
    MPI_Type_commit(&type);
    exchange_same(job, (Memory){count, type, bytes, at});
    MPI_Type_free(&type);
}

static void expect_ints(const Job *job, const int *data, int count, int first) {
    for (int i = 0; i < count; i++) {
        if (data[i] != first + i) die("int %d is wrong on rank %d", i, job->rank);
    }
}

/* Types of absolute addresses, which differ between the ranks: the buffer is no address at all. */
static void bottom(const Job *job) {
    enum { COUNT = 300 };
    for (int parts = 1; parts <= 3; parts++) {
        int *data = malloc(sizeof *data * COUNT * 5);
        const int root = parts % job->size;
        MPI_Datatype type, as_struct;
        int lengths[3];
        MPI_Aint addresses[3];
        MPI_Datatype types[3];
        for (int p = 0; p < parts; p++) { /* with as many ints between, in descending order */
            lengths[p] = COUNT;
            types[p] = MPI_INT;
            MPI_Get_address(data + (parts - 1 - p) * 2 * COUNT, &addresses[p]);
        }
        MPI_Type_create_hindexed(parts, lengths, addresses, MPI_INT, &type);
        MPI_Type_create_struct(parts, lengths, addresses, types, &as_struct);
        MPI_Type_commit(&type);
        MPI_Type_commit(&as_struct);
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < COUNT * 5; i++) data[i] = -1;
            for (int i = 0; i < COUNT * parts && job->rank == root; i++) {
                data[(parts - 1 - i / COUNT) * 2 * COUNT + i % COUNT] = i + round;
            }
            MPI_Bcast(MPI_BOTTOM, 1, round == 0 ? type : as_struct, root, MPI_COMM_WORLD);
            for (int p = 0; p < parts; p++) {
                expect_ints(job, data + (parts - 1 - p) * 2 * COUNT, COUNT, p * COUNT + round);
                for (int i = 0; p > 0 && i < COUNT; i++) {
                    if (data[((parts - 1 - p) * 2 + 1) * COUNT + i] != -1) die("a gap is written to");
                }
            }
        }
        MPI_Type_free(&type);
        MPI_Type_free(&as_struct);
        free(data);
    }
}

/* Data before the buffer's address, and elements that lie into each other. */
static void bounds(const Job *job) {
    MPI_Datatype ints, type, every_other;
    MPI_Type_contiguous(3, MPI_INT, &ints);
    MPI_Type_create_resized(ints, -8, 32, &type); /* data at the address, room before and behind */
    exchange_once(job, type, 40, 40 * 32 + 64, 32);
    MPI_Type_create_resized(ints, -8, 12, &type); /* no gaps, only a lower bound that is not 0 */
    exchange_once(job, type, 40, 40 * 12 + 64, 32);
    MPI_Type_create_resized(ints, 0, -12, &type); /* backwards through memory */
    exchange_once(job, type, 40, 41 * 12, 40 * 12);
    MPI_Type_free(&ints);
    MPI_Type_vector(5, 1, 2, MPI_INT, &every_other);
    MPI_Type_create_resized(every_other, -16, 64, &type);
    exchange_once(job, type, 20, 20 * 64 + 32, 16);
    MPI_Type_create_resized(every_other, 0, 4, &type); /* elements that begin within the one before */
    exchange_once(job, type, 2, 64, 0);
    MPI_Type_free(&every_other);
    const int lengths[2] = {2, 3};
    const MPI_Aint offsets[2] = {-24, -12}; /* all data before the address */
    MPI_Type_create_hindexed(2, lengths, offsets, MPI_INT, &type);
    exchange_once(job, type, 30, 30 * 24 + 64, 32);
    const MPI_Aint one = -12;
    const int length = 3;
    MPI_Type_create_hindexed(1, &length, &one, MPI_INT, &type); /* contiguous, but not there */
    exchange_once(job, type, 30, 30 * 12 + 64, 16);
}

/* The ranks agree in what is sent, not in how it lies in memory. */
static void gaps(const Job *job) {
    enum { COUNT = 500 };
    MPI_Datatype vector, column, columns, pair;
    MPI_Type_vector(COUNT, 1, 2, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    const Memory spread = {1, vector, 8 * COUNT, 0}, dense = {COUNT, MPI_INT, 4 * COUNT, 0};
    exchange(job, spread, dense);
    exchange(job, dense, spread);
    exchange_same(job, spread);
    MPI_Type_free(&vector);
    /* The columns of a matrix of 20 by 25, one after the other. */
    MPI_Type_vector(20, 1, 25, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &columns);
    MPI_Type_commit(&columns);
    const Memory turned = {25, columns, 4 * COUNT, 0};
    exchange(job, turned, dense);
    exchange(job, dense, turned);
    MPI_Type_free(&column);
    MPI_Type_free(&columns);
    MPI_Type_vector(COUNT / 2, 2, 2, MPI_INT, &pair); /* a vector without gaps */
    MPI_Type_commit(&pair);
    exchange(job, dense, (Memory){1, pair, 4 * COUNT, 0});
    MPI_Type_free(&pair);
}

/* Size and extent are the same, and yet the order in memory is another. */
static void permuted(const Job *job) {
    enum { COUNT = 400 };
    MPI_Datatype turned, nested, by_struct;
    const int places[4] = {2, 0, 3, 1};
    MPI_Type_create_indexed_block(4, 1, places, MPI_INT, &turned);
    MPI_Type_commit(&turned);
    MPI_Type_contiguous(5, turned, &nested);
    MPI_Type_commit(&nested);
    const int lengths[2] = {1, 3};
    const MPI_Aint offsets[2] = {12, 0};
    const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Type_create_struct(2, lengths, offsets, types, &by_struct);
    MPI_Type_commit(&by_struct);
    const Memory plain = {COUNT, MPI_INT, 4 * COUNT, 0};
    const Memory others[3] = {{COUNT / 4, turned, 4 * COUNT, 0},
                              {COUNT / 20, nested, 4 * COUNT, 0},
                              {COUNT / 4, by_struct, 4 * COUNT, 0}};
    for (int i = 0; i < 3; i++) {
        exchange(job, others[i], plain);
        exchange(job, plain, others[i]);
        exchange(job, others[i], others[(i + 1) % 3]);
    }
    MPI_Type_free(&turned);
    MPI_Type_free(&nested);
    MPI_Type_free(&by_struct);
}

/* Arrays and records in each other, and duplicates of types. */
static void nested(const Job *job) {
    MPI_Datatype type, record, rows, copy;
    const int sizes[3] = {6, 10, 12}, part[3] = {3, 4, 5}, first[3] = {2, 1, 7};
    MPI_Type_create_subarray(3, sizes, part, first, MPI_ORDER_C, MPI_SHORT, &type);
    exchange_once(job, type, 2, 2 * 720 * 2, 0);
    MPI_Type_create_subarray(3, sizes, part, first, MPI_ORDER_FORTRAN, MPI_DOUBLE, &type);
    exchange_once(job, type, 1, 720 * 8, 0);
    const int whole[2] = {20, 30}, ways[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
    const int arguments[2] = {3, MPI_DISTRIBUTE_DFLT_DARG}, grid[2] = {2, 2};
    MPI_Type_create_darray(4, 1, 2, whole, ways, arguments, grid, MPI_ORDER_C, MPI_INT, &type);
    exchange_once(job, type, 1, 600 * 4, 0);
    const int lengths[3] = {1, 1, 3};
    const MPI_Aint offsets[3] = {0, 8, 17};
    const MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT};
    MPI_Type_create_struct(3, lengths, offsets, types, &record); /* not aligned, with a gap of 7 bytes */
    MPI_Type_vector(3, 2, 5, record, &rows);
    MPI_Type_create_resized(rows, 0, 500, &type);
    MPI_Type_dup(type, &copy);
    MPI_Type_commit(&type); /* the copy was made of a type that was not committed */
    exchange_same(job, (Memory){7, type, 7 * 500, 0});
    MPI_Type_free(&record); /* types outlive those they were made of */
    MPI_Type_free(&rows);
    MPI_Type_free(&type);
    MPI_Type_commit(&copy);
    exchange_same(job, (Memory){7, copy, 7 * 500, 0});
    MPI_Type_dup(copy, &type);
    MPI_Type_free(&copy);
    exchange_same(job, (Memory){7, type, 7 * 500, 0}); /* the copy of a committed type is committed */
    MPI_Type_free(&type);
    MPI_Type_dup(MPI_INT, &type);
    exchange_same(job, (Memory){700, type, 2800, 0});
    MPI_Type_free(&type);
}

/* Types and messages without data: they need no buffer, and whoever has something comes after them. */
static void empty(const Job *job) {
    MPI_Datatype nothing, no_blocks, room;
    MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD); /* before any other */
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    MPI_Type_vector(0, 3, 4, MPI_INT, &no_blocks);
    MPI_Type_commit(&no_blocks);
    MPI_Type_create_resized(nothing, 0, 16, &room); /* takes room, and has no data */
    MPI_Type_commit(&room);
    unsigned char data[64], untouched[64];
    pattern(data, sizeof data, (unsigned)job->rank);
    pattern(untouched, sizeof untouched, (unsigned)job->rank);
    for (int root = 0; root < job->size; root++) {
        MPI_Bcast(data, 0, MPI_DOUBLE, root, MPI_COMM_WORLD);
        MPI_Bcast(data, 4, nothing, root, MPI_COMM_WORLD);
        MPI_Bcast(data, 4, no_blocks, root, MPI_COMM_WORLD);
        MPI_Bcast(data, 4, room, root, MPI_COMM_WORLD);
#ifndef OPEN_MPI /* does nothing for a count of 0, but sends a message for such a type: they do not match */
        if (job->rank == root) MPI_Bcast(data, 4, room, root, MPI_COMM_WORLD);
        else MPI_Bcast(data, 0, MPI_INT, root, MPI_COMM_WORLD);
#endif
        if (memcmp(data, untouched, sizeof data) != 0)
            die("nothing was sent, and rank %d has changed", job->rank);
        broadcast(MPI_COMM_WORLD, root, 1000, 4u);
    }
    MPI_Type_free(&nothing);
    MPI_Type_free(&no_blocks);
    MPI_Type_free(&room);
}

/* A type is freed as soon as it was used, and the next one, with another layout, may get its handle. */
static void reused(const Job *job) {
    for (int i = 0; i < job->times; i++) {
        MPI_Datatype type, inner;
        const int places[4] = {1, 0, 3, 2};
        size_t bytes = 4 * 24;
        switch (i % 6) {
        case 0: MPI_Type_vector(24, 1, 2, MPI_INT, &type); bytes *= 2; break;
        case 1: MPI_Type_contiguous(24, MPI_INT, &type); break;
        case 2: MPI_Type_vector(24, 1, 3, MPI_INT, &type); bytes *= 3; break;
        case 3:
            MPI_Type_create_indexed_block(4, 1, places, MPI_INT, &inner);
            MPI_Type_contiguous(6, inner, &type);
            MPI_Type_free(&inner);
            break;
        case 4: MPI_Type_contiguous(12, MPI_DOUBLE, &type); break;
        default: MPI_Type_contiguous(7, MPI_SHORT, &type); bytes = 14; break;
        }
        MPI_Type_commit(&type);
        const int root = i % job->size;
        unsigned char *sent = new_pattern(bytes, (unsigned)i);
        unsigned char *mine = new_pattern(bytes, job->rank == root ? (unsigned)i : 255u);
        unsigned char *wanted = new_pattern(bytes, job->rank == root ? (unsigned)i : 255u);
        char packed[256];
        int position = 0;
        MPI_Pack(sent, 1, type, packed, sizeof packed, &position, MPI_COMM_SELF);
        position = 0;
        MPI_Unpack(packed, sizeof packed, &position, wanted, 1, type, MPI_COMM_SELF);
        MPI_Bcast(mine, 1, type, root, MPI_COMM_WORLD);
        MPI_Type_free(&type);
        if (memcmp(mine, wanted, bytes) != 0) die("type %d is wrong on rank %d", i, job->rank);
        free(sent);
        free(mine);
        free(wanted);
    }
}

/* The predefined pairs, some of which have a gap. */
static void pairs(const Job *job) {
    const MPI_Datatype all[] = {MPI_DOUBLE_INT, MPI_FLOAT_INT, MPI_LONG_INT, MPI_SHORT_INT, MPI_2INT};
    for (int i = 0; i < 5; i++) {
        MPI_Aint lower, extent;
        MPI_Type_get_extent(all[i], &lower, &extent);
        exchange_same(job, (Memory){100, all[i], (size_t)extent * 100, 0});
        MPI_Datatype several;
        MPI_Type_contiguous(10, all[i], &several);
        exchange_once(job, several, 10, (size_t)extent * 100, 0);
    }
}

/* What is made with counts of 64 bits tells of itself through other functions, where the library has them. */
static void counts_of_64_bits(const Job *job) {
#if MPI_VERSION >= 4
    MPI_Datatype type, inner;
    MPI_Type_contiguous_c(30, MPI_INT, &type);
    exchange_once(job, type, 3, 360, 0);
    MPI_Type_vector_c(30, 1, 2, MPI_INT, &type);
    exchange_once(job, type, 3, 720, 0);
    const MPI_Count lengths[2] = {3, 4}, offsets[2] = {40, 0};
    const MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Type_create_hindexed_c(2, lengths, offsets, MPI_INT, &type);
    exchange_once(job, type, 3, 3 * 52, 0);
    MPI_Type_create_struct_c(2, lengths, offsets, types, &type);
    exchange_once(job, type, 3, 3 * 56, 0);
    const MPI_Count places[4] = {2, 0, 3, 1};
    MPI_Type_create_indexed_block_c(4, 1, places, MPI_INT, &inner); /* permuted */
    MPI_Type_commit(&inner);
    exchange(job, (Memory){5, inner, 80, 0}, (Memory){20, MPI_INT, 80, 0});
    MPI_Type_create_resized_c(inner, -16, 32, &type);
    exchange_once(job, type, 5, 200, 16);
    MPI_Type_free(&inner);
    const MPI_Count sizes[2] = {10, 12}, part[2] = {3, 4}, first[2] = {2, 1};
    MPI_Type_create_subarray_c(2, sizes, part, first, MPI_ORDER_C, MPI_SHORT, &type);
    exchange_once(job, type, 2, 480, 0);
    for (int root = 0; root < job->size; root++) { /* the same broadcast by its other name, in between */
        int values[50];
        for (int i = 0; i < 50; i++) values[i] = job->rank == root ? i : -1;
        MPI_Bcast_c(values, 50, MPI_INT, root, MPI_COMM_WORLD);
        expect_ints(job, values, 50, 0);
    }
#endif
    exchange_same(job, (Memory){30, MPI_INT, 120, 0});
}

/* One element of more than 2 GiB; what is where is known from its place, so that there is one buffer only. */
static void huge(const Job *job) {
    enum { BLOCK = 1 << 20 };
    const int blocks = 2400, gap = is(job, "gaps") ? 4096 : 0;
    const size_t stride = BLOCK + (size_t)gap, bytes = stride * (size_t)blocks;
    MPI_Datatype type;
    MPI_Type_vector(blocks, BLOCK, BLOCK + gap, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    unsigned char *data = malloc(bytes);
    if (data == NULL) die("no memory for %zu bytes", bytes);
    memset(data, 0xee, bytes);
    for (int b = 0; b < blocks && job->rank == 0; b++) pattern(data + stride * (size_t)b, BLOCK, (unsigned)b);
    MPI_Bcast(data, 1, type, 0, MPI_COMM_WORLD);
    unsigned char *wanted = malloc(BLOCK);
    for (int b = 0; b < blocks; b++) {
        const unsigned char *block = data + stride * (size_t)b;
        pattern(wanted, BLOCK, (unsigned)b);
        if (memcmp(block, wanted, BLOCK) != 0) die("block %d is wrong on rank %d", b, job->rank);
        for (int i = 0; i < gap && b < blocks - 1; i++) {
            if (block[BLOCK + i] != 0xee) die("the gap behind block %d is written to", b);
        }
    }
    free(wanted);
    free(data);
    MPI_Type_free(&type);
    broadcast_all(MPI_COMM_WORLD, 1u);
}

/* ---- errors ------------------------------------------------------------------------------------------- */

/* An error handler is told nothing of who asks, so what it counts is global. */
static int handler_calls = 0;

static void count_calls(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    (void)code;
    handler_calls++;
}

/* A broadcast that all ranks get wrong: what each is told, and how often its handler was called. */
static void try_wrong(const Job *job, const char *what, void *data, int count, MPI_Datatype type, int root,
                      MPI_Comm comm) {
    handler_calls = 0;
    int told[2];
    told[0] = class_of(MPI_Bcast(data, count, type, root, comm));
    told[1] = handler_calls;
    print_of_all(job, what, told, 2);
}

/* What only the message itself shows: the receiver's error is the library's own. */
static void truncated(const Job *job) {
    double data[100] = {0};
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* MPICH tells errors of requests here */
    broadcast_all(comm, 1u);
    const int is_truncated =
        class_of(MPI_Bcast(data, job->rank == 1 ? 50 : 100, MPI_DOUBLE, 0, comm)) == MPI_ERR_TRUNCATE;
    print_of_all(job, "is truncated", &is_truncated, 1);
    MPI_Comm_free(&comm);
}

static void errors(const Job *job) {
    MPI_Comm comm;
    MPI_Errhandler handler = MPI_ERRORS_RETURN;
    MPI_Datatype uncommitted;
    MPI_Type_vector(3, 1, 2, MPI_INT, &uncommitted);
    if (is(job, "handler")) MPI_Comm_create_errhandler(count_calls, &handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler); /* errors without a communicator are told here, */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);  /* or, by newer standards, here */
    for (int round = 0; round < 2; round++) {         /* before the first broadcast and after it */
        int data[8] = {0};
        try_wrong(job, "root -1", data, 5, MPI_INT, -1, comm);
        try_wrong(job, "root -1 with 0 elements", data, 0, MPI_INT, -1, comm);
        try_wrong(job, "root of a rank too many", data, 5, MPI_INT, job->size, comm);
        try_wrong(job, "negative count", data, -1, MPI_INT, 0, comm);
        try_wrong(job, "no type", data, 5, MPI_DATATYPE_NULL, 0, comm);
        try_wrong(job, "no communicator", data, 5, MPI_INT, 0, MPI_COMM_NULL);
        try_wrong(job, "a type that is not committed", data, 1, uncommitted, 0, comm);
        try_wrong(job, "root -1 of one rank", data, 5, MPI_INT, -1, MPI_COMM_SELF);
#ifdef OPEN_MPI /* MPICH 4.0 crashes */
        try_wrong(job, "no type with 0 elements", data, 0, MPI_DATATYPE_NULL, 0, comm);
#else /* Open MPI crashes */
        try_wrong(job, "no buffer", NULL, 5, MPI_INT, 0, comm);
#endif
        broadcast_all(comm, (unsigned)round);
        broadcast_all(MPI_COMM_WORLD, (unsigned)round);
    }
    MPI_Type_free(&uncommitted);
    MPI_Comm_free(&comm);
    if (is(job, "handler")) MPI_Errhandler_free(&handler);
}

/* Rank 1 does something else than the others, which ISOCHRONE_CHECK finds. Without MPI_ERRORS_RETURN the job
 * is to end. The last line says whether the communicator is of use afterwards. */
static void unequal(const Job *job) {
    double data[100] = {0};
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (!is(job, "fatal")) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    const int odd = job->rank == 1;
    int code;
    if (is(job, "kind") && odd)
        code = MPI_Barrier(comm);
    else if (is(job, "operation"))
        code = MPI_Allreduce(MPI_IN_PLACE, data, 100, MPI_DOUBLE, odd ? MPI_MAX : MPI_SUM, comm);
    else
        code = MPI_Bcast(data, odd && !is(job, "root") && !is(job, "kind") ? 50 : 100, MPI_DOUBLE,
                         odd && is(job, "root") ? 1 : 0, comm);
    const int is_argument = class_of(code) == MPI_ERR_ARG;
    print_of_all(job, "is an argument's error", &is_argument, 1);
    broadcast_all(comm, 1u);
    MPI_Comm_free(&comm);
}

/* ---- attributes and the end --------------------------------------------------------------------------- */

/* How often a program's callbacks were called. */
typedef struct {
    int copies, deletions;
} Calls;

static int copy_comm(MPI_Comm comm, int key, void *calls, void *in, void *out, int *flag) {
    (void)comm;
    (void)key;
    ((Calls *)calls)->copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_comm(MPI_Comm comm, int key, void *value, void *calls) {
    (void)comm;
    (void)key;
    (void)value;
    ((Calls *)calls)->deletions++;
    return MPI_SUCCESS;
}

static int copy_type(MPI_Datatype type, int key, void *calls, void *in, void *out, int *flag) {
    (void)type;
    (void)key;
    ((Calls *)calls)->copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_type(MPI_Datatype type, int key, void *value, void *calls) {
    (void)type;
    (void)key;
    (void)value;
    ((Calls *)calls)->deletions++;
    return MPI_SUCCESS;
}

/* As PETSc does: a communicator has another one within, which ends with it, and has work to do until then. */
static int end_inner(MPI_Comm comm, int key, void *value, void *calls) {
    (void)comm;
    (void)key;
    MPI_Comm *inner = value;
    broadcast(*inner, 0, 500, 5u);
    MPI_Comm_free(inner);
    free(inner);
    ((Calls *)calls)->deletions++;
    return MPI_SUCCESS;
}

/* Copies and deletions of a program's attributes are those that the program causes. */
static void callbacks(const Job *job) {
    Calls of_comms = {0, 0}, of_types = {0, 0}, of_inner = {0, 0};
    int comm_key, type_key, inner_key;
    MPI_Comm_create_keyval(copy_comm, delete_comm, &comm_key, &of_comms);
    MPI_Type_create_keyval(copy_type, delete_type, &type_key, &of_types);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_inner, &inner_key, &of_inner);
    MPI_Comm_set_attr(MPI_COMM_WORLD, comm_key, &of_comms);
    for (int i = 0; i < 8; i++) {
        MPI_Comm copy, part, *inner = malloc(sizeof *inner);
        broadcast(MPI_COMM_WORLD, i % job->size, 200, 1u);
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        broadcast(copy, 0, 3000, 2u);
        MPI_Comm_split(copy, 0, -job->rank, &part); /* copies no attribute */
        broadcast(part, 0, 300, 3u);
        MPI_Comm_dup(part, inner);
        if (i % 2 == 0) broadcast(*inner, 0, 20, 4u);
        MPI_Comm_set_attr(part, inner_key, inner);
        MPI_Comm_free(&part);
        if (i % 3 == 0) MPI_Comm_disconnect(&copy);
        else MPI_Comm_free(&copy);
        MPI_Datatype type, twin;
        MPI_Type_vector(10, 1, 2, MPI_INT, &type);
        MPI_Type_set_attr(type, type_key, &of_types);
        MPI_Type_commit(&type);
        MPI_Type_dup(type, &twin);
        exchange_same(job, (Memory){1, type, 80, 0});
        exchange_same(job, (Memory){1, twin, 80, 0});
        MPI_Type_free(&type);
        exchange_same(job, (Memory){1, twin, 80, 0});
        MPI_Type_free(&twin);
    }
    MPI_Comm_delete_attr(MPI_COMM_WORLD, comm_key);
    MPI_Comm_free_keyval(&comm_key);
    MPI_Comm_free_keyval(&inner_key);
    MPI_Type_free_keyval(&type_key);
    const int counts[6] = {of_comms.copies,    of_comms.deletions, of_types.copies,
                           of_types.deletions, of_inner.copies,    of_inner.deletions};
    print_of_all(job, "calls", counts, 6);
}

/* Called when MPI_COMM_SELF ends, which is the first thing in MPI_Finalize: everything works still. */
static int work_at_the_end(MPI_Comm self, int key, void *value, void *extra) {
    (void)self;
    (void)key;
    (void)extra;
    const Job *job = value;
    MPI_Comm copy;
    broadcast_all(MPI_COMM_WORLD, 1u);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    broadcast_all(copy, 2u);
    MPI_Comm_free(&copy);
    if (job->rank == 0) printf("broadcasts at the end\n");
    return MPI_SUCCESS;
}

/* What a program never frees, used and not. */
static void leave_things(const Job *job) {
    MPI_Comm used, unused, part;
    MPI_Datatype type;
    MPI_Comm_dup(MPI_COMM_WORLD, &unused);
    MPI_Comm_dup(MPI_COMM_WORLD, &used);
    MPI_Comm_split(MPI_COMM_WORLD, job->rank % 2, -job->rank, &part);
    broadcast_all(used, 1u);
    if (job->rank % 2 == 0) MPI_Comm_free(&part); /* not all ranks have the same left */
    else broadcast_all(part, 2u);
    MPI_Type_vector(3, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    exchange_same(job, (Memory){2, type, 64, 0});
    broadcast_all(MPI_COMM_WORLD, 3u);
}

static void finalize(void) { MPI_Finalize(); }

/* All ways to end. These come back after MPI_Finalize, or not at all. */
static void ending(Job *job) {
    if (is(job, "atexit before")) atexit(finalize); /* what was there before MPI is ended after it */
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &job->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job->size);
    if (is(job, "atexit after")) atexit(finalize);
    leave_things(job);
    if (is(job, "self")) {
        int key;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, work_at_the_end, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, job);
    }
    if (job->rank == 0) printf("ok ending %s\n", job->variant);
    fflush(stdout);
    if (strncmp(job->variant, "atexit", 6) == 0) exit(0);
    if (is(job, "pmpi")) PMPI_Finalize(); /* as a tool does that stands in front of MPI_Finalize */
    else MPI_Finalize();
}

typedef struct {
    const char *name;
    void (*run)(const Job *job);
} Case;

int main(int argc, char **argv) {
    static const Case cases[] = {
        {"idup", idup},
        {"graphs", graphs},
        {"contexts", contexts},
        {"churn", churn},
        {"threads", threads},
        {"overlap", overlap},
        {"kinds", kinds},
        {"bottom", bottom},
        {"bounds", bounds},
        {"gaps", gaps},
        {"permuted", permuted},
        {"nested", nested},
        {"empty", empty},
        {"reused", reused},
        {"pairs", pairs},
        {"64 bits", counts_of_64_bits},
        {"huge", huge},
        {"errors", errors},
        {"unequal", unequal},
        {"truncated", truncated},
        {"callbacks", callbacks},
    };
    Job job = {0, 1, argc > 2 ? argv[2] : "", argc > 3 ? atoi(argv[3]) : 0};
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "ending") == 0) {
        ending(&job);
        return 0;
    }
    /* Most programs have one thread; where there are more, communicators do not share their tags. */
    int many = strcmp(name, "threads") == 0 || strcmp(job.variant, "threads") == 0;
    int wanted = many ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, provided;
    MPI_Init_thread(&argc, &argv, wanted, &provided);
    if (provided < wanted) die("no threads");
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.size);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].name, name) != 0) continue;
        cases[i].run(&job);
        MPI_Barrier(MPI_COMM_WORLD);
        if (job.rank == 0) printf("ok %s %s\n", name, job.variant);
        MPI_Finalize();
        return 0;
    }
    die("there is no case %s", name);
    return 2;
}
