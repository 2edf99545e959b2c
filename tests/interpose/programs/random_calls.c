/* SPDX-License-Identifier: BSD-3-Clause
 *
 * random_calls SEED CALLS: collectives of any kind, size, root, datatype, operation and communicator, in place and
 * not. All ranks draw the same numbers, and know what each of them gives. Each looks at what it gets, and prints how
 * many calls left something else, and a digest of all.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 3000
#define COMMS 5
#define RANKS 16 /* at most */

static uint64_t state;
static uint64_t digest = 0xcbf29ce484222325u;

static uint64_t draw(void) { /* splitmix64 */
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int below(int most) { return (int)(draw() % (uint64_t)most); }

static void look_at(const void *data, size_t bytes) {
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++) digest = (digest ^ byte[i]) * 0x100000001b3u;
}

/* x -> a x + b, composed: associative, and not commutative. */
static void compose(void *left, void *right, int *count, MPI_Datatype *type) {
    const uint32_t *f = left;
    uint32_t *g = right;
    (void)type;
    for (int i = 0; i < 2 * *count; i += 2) {
        uint32_t a = f[i] * g[i], b = f[i] * g[i + 1] + f[i + 1];
        g[i] = a;
        g[i + 1] = b;
    }
}

enum { INTS, DOUBLES, BYTES, PAIRS, TRIPLES, GAPS, TYPES };

typedef struct {
    MPI_Datatype type;
    size_t extent; /* bytes */
} Type;

static Type types[TYPES];
static MPI_Op composition;

static void make_types(void) {
    MPI_Datatype made;
    types[INTS] = (Type){MPI_INT, sizeof(int)};
    types[DOUBLES] = (Type){MPI_DOUBLE, sizeof(double)};
    types[BYTES] = (Type){MPI_UNSIGNED_CHAR, 1};
    MPI_Type_contiguous(2, MPI_UINT32_T, &made);
    MPI_Type_commit(&made);
    types[PAIRS] = (Type){made, 8};
    MPI_Type_contiguous(3, MPI_INT, &made);
    MPI_Type_commit(&made);
    types[TRIPLES] = (Type){made, 12};
    MPI_Type_vector(2, 1, 2, MPI_INT, &made);
    MPI_Datatype gaps;
    MPI_Type_create_resized(made, 0, 16, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Type_free(&made);
    types[GAPS] = (Type){gaps, 16};
    MPI_Op_create(compose, 0, &composition);
}

/* Small whole numbers: sums of doubles are exact, and so do not depend on their order. */
static void fill(void *buffer, int type, int count, uint64_t seed) {
    uint64_t kept = state;
    state = seed;
    if (type == DOUBLES) {
        for (int i = 0; i < count; i++) ((double *)buffer)[i] = below(1000) - 500;
    } else {
        for (size_t i = 0; i < types[type].extent * (size_t)count; i++)
            ((unsigned char *)buffer)[i] = (unsigned char)draw();
    }
    state = kept;
}

/* What one element of a type combines to, done here. */
static void combine(const void *left, void *right, int type, int op, int count) {
    if (type == PAIRS) {
        compose((void *)left, right, &count, NULL);
    } else if (type == DOUBLES) {
        const double *a = left;
        double *b = right;
        for (int i = 0; i < count; i++) b[i] = op == 0 ? a[i] + b[i] : (op == 1) == (a[i] > b[i]) ? a[i] : b[i];
    } else if (type == INTS) {
        const uint32_t *a = left;
        uint32_t *b = right;
        for (int i = 0; i < count; i++) b[i] = op == 0 ? a[i] ^ b[i] : op == 1 ? a[i] | b[i] : a[i] + b[i];
    } else {
        const unsigned char *a = left;
        unsigned char *b = right;
        for (int i = 0; i < count; i++)
            b[i] = (unsigned char)(op == 0 ? a[i] ^ b[i] : op == 1 ? a[i] | b[i] : a[i] & b[i]);
    }
}

/* Copies the data of elements, and not what lies in their gaps. */
static void put(unsigned char *to, const unsigned char *from, int type, int count) {
    for (size_t i = 0; i < types[type].extent * (size_t)count; i++)
        if (type != GAPS || i % 8 < 4) to[i] = from[i];
}

enum { GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, BLOCK_KINDS };

static _Alignas(16) unsigned char sent[MOST * 16], got[MOST * 16], due[MOST * 16], block[MOST * 16];

/* What a rank has for another, of one call. Where it has the same for all, the other is itself. */
static void block_of(int type, int count, uint64_t seed, int from, int to) {
    fill(block, type, count, seed + (uint64_t)(from * 1000 + to));
}

/* One call that moves blocks. All of a communicator draw the same. Returns whether something else was left than should be. */
static int move_blocks(int kind, MPI_Comm comm, int me, int here, int root, int type, int in_place) {
    const int is_v = kind % 2 == 1 || kind == ALLTOALLW, is_exchange = kind >= ALLTOALL, has_root = kind < ALLGATHER;
    const int scatters = kind == SCATTER || kind == SCATTERV, is_root = !has_root || me == root;
    int count[RANKS][RANKS], send_counts[RANKS], send_at[RANKS], counts[RANKS], at[RANKS];
    const int same = below(3) == 0 ? below(300) : below(20), gap = is_v ? below(3) : 0;
    for (int s = 0; s < here; s++)
        for (int d = 0; d < here; d++) count[s][d] = !is_v ? same : below(3) == 0 ? 0 : below(below(4) == 0 ? 250 : 12);
    for (int s = 0; s < here; s++)
        for (int d = 0; d < here; d++)
            if (!is_exchange) /* one length a rank */
                count[s][d] = count[scatters ? d : s][scatters ? d : s];
            else if (in_place && d < s)
                count[s][d] = count[d][s];
    const uint64_t seed = draw();
    in_place = in_place && is_root;
    const size_t extent = types[type].extent;
    /* Both sides of an exchange; the others use one of them. */
    int end = 0, send_end = 0;
    for (int r = 0; r < here; r++) {
        const int other = here - 1 - r; /* the last block first */
        const int place = is_v ? other : r;
        counts[place] = is_exchange ? count[place][me] : count[place][place];
        at[place] = end;
        end += counts[place] + gap;
        send_counts[r] = is_exchange ? count[me][r] : count[r][r];
        send_at[r] = send_end;
        send_end += send_counts[r] + gap;
    }
    const int own = count[me][me];
    memset(sent, 0x5a, sizeof sent);
    memset(got, 0xa5, sizeof got);
    memset(due, 0xa5, sizeof due);
    /* Elements of three ints are sent as ints by some. */
    int as_ints = type == TRIPLES && me % 2 == 1 && !in_place;
#ifdef OPEN_MPI
    /* Open MPI 4.1 itself takes the size of what is sent for that of what is received, and ranks choose apart. */
    if (kind == ALLGATHERV) as_ints = 0;
#endif
    const MPI_Datatype handle = types[type].type, own_handle = as_ints ? MPI_INT : handle;
    const int own_count = as_ints ? 3 * own : own;
    if (kind == GATHER || kind == GATHERV || kind == ALLGATHER || kind == ALLGATHERV) {
        block_of(type, own, seed, me, me);
        put(in_place ? got + extent * (size_t)at[me] : sent, block, type, own);
    } else if (scatters && is_root) {
        for (int r = 0; r < here; r++) {
            block_of(type, send_counts[r], seed, root, r);
            put(sent + extent * (size_t)send_at[r], block, type, send_counts[r]);
        }
    } else if (is_exchange) {
        for (int r = 0; r < here; r++) {
            block_of(type, count[me][r], seed, me, r);
            put(in_place ? got + extent * (size_t)at[r] : sent + extent * (size_t)send_at[r], block, type, count[me][r]);
        }
    }
    if (scatters) {
        if (in_place) {
            memcpy(due, got, sizeof due);
        } else {
            block_of(type, own, seed, root, me);
            put(due, block, type, own);
        }
    } else if (is_root) {
        for (int r = 0; r < here; r++) {
            block_of(type, counts[r], seed, r, is_exchange ? me : r);
            put(due + extent * (size_t)at[r], block, type, counts[r]);
        }
    }
    const void *from = in_place ? MPI_IN_PLACE : sent;
    void *to = scatters && in_place ? MPI_IN_PLACE : got;
    switch (kind) {
    case GATHER: MPI_Gather(from, own_count, own_handle, got, same, handle, root, comm); break;
    case GATHERV: MPI_Gatherv(from, own_count, own_handle, got, counts, at, handle, root, comm); break;
    case SCATTER: MPI_Scatter(sent, same, handle, to, own_count, own_handle, root, comm); break;
    case SCATTERV: MPI_Scatterv(sent, send_counts, send_at, handle, to, own_count, own_handle, root, comm); break;
    case ALLGATHER: MPI_Allgather(from, own_count, own_handle, got, same, handle, comm); break;
    case ALLGATHERV: MPI_Allgatherv(from, own_count, own_handle, got, counts, at, handle, comm); break;
    case ALLTOALL: MPI_Alltoall(from, same, handle, got, same, handle, comm); break;
    case ALLTOALLV: MPI_Alltoallv(from, send_counts, send_at, handle, got, counts, at, handle, comm); break;
    default: { /* places in bytes; some blocks of three ints are of ints */
        MPI_Datatype send_types[RANKS], got_types[RANKS];
        for (int r = 0; r < here; r++) {
            send_types[r] = got_types[r] = handle;
            send_at[r] *= (int)extent;
            at[r] *= (int)extent;
            if (type != TRIPLES) continue;
            if ((me + r) % 2 == 0) send_types[r] = MPI_INT, send_counts[r] *= 3;
            if (r % 3 == 1) got_types[r] = MPI_INT, counts[r] *= 3;
        }
        MPI_Alltoallw(from, send_counts, send_at, send_types, got, counts, at, got_types, comm);
    }
    }
    look_at(got, sizeof got);
    return memcmp(got, due, sizeof due) != 0;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    state = strtoull(argv[1], NULL, 10);
    make_types();
    MPI_Comm comms[COMMS];
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[2]);           /* reversed */
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[3]);     /* every second */
    MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, rank, &comms[4]);
    static _Alignas(16) unsigned char input[MOST * 16], output[MOST * 16], wanted[MOST * 16], other[MOST * 16];
    int wrong = 0;
    const MPI_Op any[] = {MPI_SUM, MPI_MAX, MPI_MIN};
    const MPI_Op bits[] = {MPI_BXOR, MPI_BOR, MPI_SUM};
    const MPI_Op of_bytes[] = {MPI_BXOR, MPI_BOR, MPI_BAND}; /* Open MPI's sums of bytes stop at 255 */
    for (int call = 0; call < atoi(argv[2]); call++) {
        int kind = below(8 + BLOCK_KINDS), which = below(COMMS), count = below(4) == 0 ? below(MOST) : below(20);
        int in_place = below(3) == 0, type = below(TYPES), root_draw = below(1 << 20), op_draw = below(3);
        MPI_Comm comm = comms[which];
        int me, here;
        MPI_Comm_rank(comm, &me);
        MPI_Comm_size(comm, &here);
        int root = root_draw % here;
        uint64_t seed = draw();
        if (kind == 0) {
            fill(output, type, count, seed + (uint64_t)(me == root ? 0 : me + 1));
            memcpy(wanted, output, sizeof wanted);
            fill(other, type, count, seed);
            int step = type == GAPS ? 8 : 1; /* ints, and gaps as long as they */
            for (size_t i = 0; i < types[type].extent * (size_t)count; i++)
                if (step == 1 || i % 8 < 4) wanted[i] = other[i];
            if (type == GAPS)
                for (int i = 0; i < count; i++) memcpy(wanted + 16 * i + 12, output + 16 * i + 12, 4);
            MPI_Bcast(output, count, types[type].type, root, comm);
            wrong += memcmp(output, wanted, types[type].extent * (size_t)count) != 0;
            look_at(output, types[type].extent * (size_t)count);
            continue;
        }
        if (kind == 3) {
            MPI_Barrier(comm);
            continue;
        }
        const uint64_t kept = state; /* communicators draw as much as they have ranks */
        if (kind >= 8) {
            state = seed;
            const int differs = move_blocks(kind - 8, comm, me, here, root, type, in_place);
            state = kept;
            if (differs && wrong++ == 0)
                fprintf(stderr, "rank %d: call %d, blocks %d, communicator %d, type %d, root %d%s\n", rank, call,
                        kind - 8, which, type, root, in_place ? ", in place" : "");
            continue;
        }
        if (type == TRIPLES || type == GAPS) type = INTS;
        MPI_Op op = type == PAIRS ? composition : type == DOUBLES ? any[op_draw] : type == BYTES ? of_bytes[op_draw] : bits[op_draw];
        int has_output = kind != 1 || me == root;
        in_place = in_place && has_output;
        /* 4: scan, 5: exscan, 6 and 7: reduce_scatter, of equal blocks or not */
        int counts[RANKS], first = 0, needs_no_output = 0;
#ifdef OPEN_MPI
        /* The first of an exscan gets nothing, and needs no place for it; MPICH wants one all the same. */
        needs_no_output = kind == 5 && me == 0 && !in_place && op_draw == 0;
#endif
        if (kind >= 6) {
            int all = 0;
            state = seed;
            for (int r = 0; r < here; r++) {
                counts[r] = kind == 6 ? count % 100 : below(2) * below(200);
                if (r < me) first += counts[r];
                all += counts[r];
            }
            count = all;
            state = kept;
        }
#ifdef MPICH
        /* MPICH 4.0.2 itself crashes in these. */
        if (kind == 1 && types[type].extent * (size_t)count >= 2048) in_place = 0;
#endif
        fill(in_place ? output : input, type, count, seed + (uint64_t)me);
        const void *from = in_place ? MPI_IN_PLACE : input;
        if (kind == 1)
            MPI_Reduce(from, output, count, types[type].type, op, root, comm); /* MPICH 4.0 wants one everywhere */
        else if (kind == 4)
            MPI_Scan(from, output, count, types[type].type, op, comm);
        else if (kind == 5)
            MPI_Exscan(from, needs_no_output ? NULL : output, count, types[type].type, op, comm);
        else if (kind == 6)
            MPI_Reduce_scatter_block(from, output, counts[0], types[type].type, op, comm);
        else if (kind == 7)
            MPI_Reduce_scatter(from, output, counts, types[type].type, op, comm);
        else
            MPI_Allreduce(from, output, count, types[type].type, op, comm);
        const int last = kind == 4 ? me : kind == 5 ? me - 1 : here - 1; /* whose operand is combined last */
        if (!has_output || last < 0) continue;
        fill(wanted, type, count, seed + (uint64_t)last);
        for (int from_rank = last - 1; from_rank >= 0; from_rank--) {
            fill(other, type, count, seed + (uint64_t)from_rank);
            combine(other, wanted, type, op_draw, count);
        }
        if (kind >= 6) {
            memmove(wanted, wanted + types[type].extent * (size_t)first, types[type].extent * (size_t)counts[me]);
            count = counts[me];
        }
        size_t bytes = types[type].extent * (size_t)count;
        if (memcmp(output, wanted, bytes) != 0 && wrong++ == 0)
            fprintf(stderr, "rank %d: call %d, kind %d, communicator %d, type %d, operation %d, count %d, root %d%s\n",
                    rank, call, kind, which, type, op_draw, count, root, in_place ? ", in place" : "");
        look_at(output, bytes);
    }
    printf("rank %d: %d wrong, %016llx\n", rank, wrong, (unsigned long long)digest);
    for (int i = 1; i < COMMS; i++) MPI_Comm_free(&comms[i]);
    for (int i = PAIRS; i < TYPES; i++) MPI_Type_free(&types[i].type);
    MPI_Op_free(&composition);
    MPI_Finalize();
    return 0;
}
