/* SPDX-License-Identifier: BSD-3-Clause
 *
 * random_calls SEED CALLS: collectives of any kind, size, root, datatype, operation and communicator, in place and
 * not. All ranks draw the same numbers. Each prints a digest of all that it has received: the same natively and on
 * a plan, since all values are exact.
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
    static _Alignas(16) unsigned char input[MOST * 16], output[MOST * 16];
    const MPI_Op any[] = {MPI_SUM, MPI_MAX, MPI_MIN};
    const MPI_Op bits[] = {MPI_BXOR, MPI_BOR, MPI_SUM};
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
            MPI_Bcast(output, count, types[type].type, root, comm);
            look_at(output, types[type].extent * (size_t)count);
            continue;
        }
        if (kind == 3) {
            MPI_Barrier(comm);
            continue;
        }
        if (type == TRIPLES || type == GAPS) type = INTS;
        MPI_Op op = type == PAIRS ? composition : type == DOUBLES ? any[op_draw] : bits[op_draw];
        int has_output = kind == 2 || me == root;
        in_place = in_place && has_output;
        fill(in_place ? output : input, type, count, seed + (uint64_t)me);
        const void *from = in_place ? MPI_IN_PLACE : input;
        if (kind == 1)
            MPI_Reduce(from, has_output ? output : NULL, count, types[type].type, op, root, comm);
        else
            MPI_Allreduce(from, output, count, types[type].type, op, comm);
        if (has_output) look_at(output, types[type].extent * (size_t)count);
    }
    printf("rank %d: %016llx\n", rank, (unsigned long long)digest);
    for (int i = 1; i < COMMS; i++) MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return 0;
}
