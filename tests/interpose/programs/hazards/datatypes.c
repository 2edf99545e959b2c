/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How data may lie in memory. */
#include <stdlib.h>
#include <string.h>

#include "hazards.h"

/* Types of absolute addresses, which differ between the ranks: the buffer is no address at all. */
void bottom(const Job *job) {
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
void bounds(const Job *job) {
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
void gaps(const Job *job) {
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
void permuted(const Job *job) {
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
void nested(const Job *job) {
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
void empty(const Job *job) {
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
void reused(const Job *job) {
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
void pairs(const Job *job) {
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
void counts_of_64_bits(const Job *job) {
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
