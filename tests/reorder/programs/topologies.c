// SPDX-License-Identifier: BSD-3-Clause
//
// Makes a communicator with a topology whose ranks may be reordered, and checks that its edges are what was asked
// for and that messages arrive along them. Rank 0 prints the edges, then for each rank of the communicator as
// which rank it was launched, then how many values were wrong on all ranks.
//
//   topologies cart ROWS COLUMNS PERIODIC PERIODIC
//   topologies graph|edges|adjacent SEED WEIGHTED     a random graph
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 4096 };

static int rank, ranks, wrong;
static int from[most], to[most], weight[most], edges;

#define expect(holds)                                                   \
    do {                                                                \
        if (!(holds)) {                                                 \
            ++wrong;                                                    \
            fprintf(stderr, "rank %d, line %d: %s\n", rank, __LINE__, #holds); \
        }                                                               \
    } while (0)

static void add(int u, int v, int w) {
    from[edges] = u;
    to[edges] = v;
    weight[edges++] = w;
}

/// In groups that lie across the ranks' order, and a few edges besides. Both ways if it is to be a graph.
static void random_graph(unsigned seed, int both_ways) {
    srand(seed);
    for (int u = 0; u < ranks; ++u) {
        for (int v = 0; v < ranks; ++v) {
            const int talks = u != v && (rand() % 10 < 1 || ((u * 7) % ranks / 2 == (v * 7) % ranks / 2));
            if (!talks || (both_ways && v < u)) continue;
            add(u, v, 1 + rand() % 9);
            if (both_ways) add(v, u, weight[edges - 1]);
        }
    }
}

/// Rank of comm, of the world, or -1.
static int here_in(MPI_Comm comm) {
    int here = -1;
    if (comm != MPI_COMM_NULL) MPI_Comm_rank(comm, &here);
    return here;
}

static void say(MPI_Comm comm) {
    const char* names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    int mine[2] = {here_in(comm), -1}, all[64][2], sum = 0;
    for (int i = 2; i >= 0; --i)
        if (getenv(names[i])) mine[1] = atoi(getenv(names[i]));
    MPI_Gather(mine, 2, MPI_INT, all, 2, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Reduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank != 0) return;
    for (int i = 0; i < edges; ++i) printf("edge %d %d %d\n", from[i], to[i], weight[i]);
    printf("launched as");
    for (int r = 0; r < ranks; ++r)
        for (int i = 0; i < ranks; ++i)
            if (all[i][0] == r) printf(" %d", all[i][1]);
    printf("\n%d wrong values\n", sum);
}

static MPI_Comm cart(char** words) {
    const int dims[2] = {atoi(words[0]), atoi(words[1])}, periods[2] = {atoi(words[2]), atoi(words[3])};
    MPI_Comm grid;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    for (int u = 0; u < dims[0] * dims[1]; ++u) {
        const int x = u / dims[1], y = u % dims[1];
        if (x + 1 < dims[0] || periods[0]) add(u, (x + 1) % dims[0] * dims[1] + y, 1);
        if (y + 1 < dims[1] || periods[1]) add(u, x * dims[1] + (y + 1) % dims[1], 1);
    }
    int members = grid != MPI_COMM_NULL, sum = 0;
    MPI_Allreduce(&members, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(sum == dims[0] * dims[1]);
    if (grid == MPI_COMM_NULL) return grid;
    const int here = here_in(grid);
    int at[2], other, got[4] = {-9, -9, -9, -9};
    MPI_Cart_coords(grid, here, 2, at);
    expect(at[0] == here / dims[1] && at[1] == here % dims[1]);
    MPI_Cart_rank(grid, at, &other);
    expect(other == here);
    MPI_Neighbor_allgather(&here, 1, MPI_INT, got, 1, MPI_INT, grid);
    for (int axis = 0; axis < 2; ++axis) {
        int sides[2], in = -9;
        MPI_Cart_shift(grid, axis, 1, &sides[0], &sides[1]);
        for (int side = 0; side < 2; ++side) {
            const int place = at[axis] + (side ? 1 : -1);
            const int there = (place + dims[axis]) % dims[axis];
            const int beyond = !periods[axis] && there != place;
            expect(sides[side] == (beyond ? MPI_PROC_NULL : axis ? at[0] * dims[1] + there : there * dims[1] + at[1]));
            expect(got[2 * axis + side] == (beyond ? -9 : sides[side]));
        }
        MPI_Sendrecv(&here, 1, MPI_INT, sides[1], 3, &in, 1, MPI_INT, sides[0], 3, grid, MPI_STATUS_IGNORE);
        expect(in == (sides[0] == MPI_PROC_NULL ? -9 : sides[0]));
    }
    return grid;
}

static MPI_Comm graph(void) {
    int index[64], neighbours[most], count = 0;
    MPI_Comm made;
    for (int u = 0; u < ranks; ++u) {
        for (int i = 0; i < edges; ++i)
            if (from[i] == u) neighbours[count++] = to[i];
        index[u] = count;
    }
    for (int i = 0; i < edges; ++i) weight[i] = 1;
    MPI_Graph_create(MPI_COMM_WORLD, ranks, index, neighbours, 1, &made);
    const int here = here_in(made), begin = here ? index[here - 1] : 0;
    int found[64], got[64], size;
    MPI_Graph_neighbors_count(made, here, &size);
    expect(size == index[here] - begin);
    MPI_Graph_neighbors(made, here, 64, found);
    MPI_Neighbor_allgather(&here, 1, MPI_INT, got, 1, MPI_INT, made);
    for (int i = 0; i < size; ++i) expect(found[i] == neighbours[begin + i] && got[i] == found[i]);
    return made;
}

/// Whether n pairs are the same in any order.
static int same(int n, const int* a, const int* wa, const int* b, const int* wb) {
    int left[64];
    for (int i = 0; i < n; ++i) left[i] = 1;
    for (int i = 0; i < n; ++i) {
        int j = 0;
        while (j < n && !(left[j] && a[i] == b[j] && (!wa || wa[i] == wb[j]))) ++j;
        if (j == n) return 0;
        left[j] = 0;
    }
    return 1;
}

static MPI_Comm distributed(int is_adjacent, int is_weighted) {
    MPI_Comm made;
    int in[64], in_weight[64], out[64], out_weight[64], ins = 0, outs = 0;
    if (!is_weighted)
        for (int i = 0; i < edges; ++i) weight[i] = 1;
    if (is_adjacent) {
        for (int i = 0; i < edges; ++i) {
            if (to[i] == rank) in_weight[ins] = weight[i], in[ins++] = from[i];
            if (from[i] == rank) out_weight[outs] = weight[i], out[outs++] = to[i];
        }
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ins, in, is_weighted ? in_weight : MPI_UNWEIGHTED, outs, out,
                                       is_weighted ? out_weight : MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &made);
    } else {
        // Each tells of some edges, whosever they are.
        int some_from[most], some_to[most], some_weight[most], ones[most], count = 0;
        for (int i = rank; i < edges; i += ranks) {
            some_from[count] = from[i];
            some_to[count] = to[i];
            some_weight[count] = weight[i];
            ones[count++] = 1;
        }
        MPI_Dist_graph_create(MPI_COMM_WORLD, count, some_from, ones, some_to,
                              is_weighted ? some_weight : MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &made);
    }
    const int here = here_in(made);
    int found_in[64], found_in_weight[64], found_out[64], found_out_weight[64], got[64], size[3];
    ins = outs = 0;
    for (int i = 0; i < edges; ++i) {
        if (to[i] == here) in_weight[ins] = weight[i], in[ins++] = from[i];
        if (from[i] == here) out_weight[outs] = weight[i], out[outs++] = to[i];
    }
    MPI_Dist_graph_neighbors_count(made, &size[0], &size[1], &size[2]);
    expect(size[0] == ins && size[1] == outs && size[2] == is_weighted);
    // No more than there are: MPICH 4.0 reads beyond them otherwise.
    MPI_Dist_graph_neighbors(made, ins, found_in, is_weighted ? found_in_weight : MPI_UNWEIGHTED, outs, found_out,
                             is_weighted ? found_out_weight : MPI_UNWEIGHTED);
    expect(same(ins, in, is_weighted ? in_weight : NULL, found_in, found_in_weight));
    expect(same(outs, out, is_weighted ? out_weight : NULL, found_out, found_out_weight));
    if (is_adjacent) {
        expect(memcmp(in, found_in, ins * sizeof *in) == 0);
        expect(memcmp(out, found_out, outs * sizeof *out) == 0);
    }
    MPI_Neighbor_allgather(&here, 1, MPI_INT, got, 1, MPI_INT, made);
    expect(memcmp(got, found_in, ins * sizeof *got) == 0);
    return made;
}

int main(int argc, char** argv) {
    MPI_Comm made;
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int too_many[2] = {ranks, 2}, none[2] = {0, 0};
    expect(MPI_Cart_create(MPI_COMM_WORLD, 2, too_many, none, 1, &made) != MPI_SUCCESS);
    if (strcmp(argv[1], "cart") == 0) {
        made = cart(argv + 2);
    } else {
        random_graph((unsigned)atoi(argv[2]), strcmp(argv[1], "graph") == 0);
        made = strcmp(argv[1], "graph") == 0 ? graph()
                                             : distributed(strcmp(argv[1], "adjacent") == 0, atoi(argv[3]));
        MPI_Comm_size(made, &size);
        expect(size == ranks);
    }
    if (made != MPI_COMM_NULL) {
        MPI_Errhandler errhandler;
        MPI_Comm_get_errhandler(made, &errhandler);
        expect(errhandler == MPI_ERRORS_RETURN);
        MPI_Errhandler_free(&errhandler);
    }
    say(made);
    if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
    MPI_Finalize();
    return 0;
}
