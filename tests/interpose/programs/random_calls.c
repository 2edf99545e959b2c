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
        int kind = below(4), which = below(COMMS), count = below(4) == 0 ? below(MOST) : below(20);
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
        if (type == TRIPLES || type == GAPS) type = INTS;
        MPI_Op op = type == PAIRS ? composition : type == DOUBLES ? any[op_draw] : type == BYTES ? of_bytes[op_draw] : bits[op_draw];
        int has_output = kind == 2 || me == root;
        in_place = in_place && has_output;
#ifdef MPICH
        /* MPICH 4.0.2 itself crashes in these. */
        if (kind == 1 && types[type].extent * (size_t)count >= 2048) in_place = 0;
#endif
        fill(in_place ? output : input, type, count, seed + (uint64_t)me);
        const void *from = in_place ? MPI_IN_PLACE : input;
        if (kind == 1)
            MPI_Reduce(from, output, count, types[type].type, op, root, comm); /* MPICH 4.0 wants one everywhere */
        else
            MPI_Allreduce(from, output, count, types[type].type, op, comm);
        if (!has_output) continue;
        fill(wanted, type, count, seed + (uint64_t)(here - 1));
        for (int from_rank = here - 2; from_rank >= 0; from_rank--) {
            fill(other, type, count, seed + (uint64_t)from_rank);
            combine(other, wanted, type, op_draw, count);
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
