// SPDX-License-Identifier: BSD-3-Clause
//
// Uses MPI_COMM_WORLD in all ways that there are. What it prints is the same whatever order the ranks are in, but
// for the first line: for each rank the one that the launcher has given it.
//
//   world            all of that
//   world abort      rank 1 ends the job with code 7
//   world spawn      starts two more ranks, which talk to those that there are
//   world order      the first line only
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, wrong, handled, deleted;

#define expect(holds)                                                   \
    do {                                                                \
        if (!(holds)) {                                                 \
            ++wrong;                                                    \
            fprintf(stderr, "rank %d, line %d: %s\n", rank, __LINE__, #holds); \
        }                                                               \
    } while (0)

static int next_rank(void) { return (rank + 1) % ranks; }
static int rank_before(void) { return (rank + ranks - 1) % ranks; }

/// The rank that the launcher gave this process.
static int launched(void) {
    const char* names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    for (int i = 0; i < 3; ++i)
        if (getenv(names[i])) return atoi(getenv(names[i]));
    return -1;
}

static void say_order(void) {
    int mine = launched(), all[64];
    MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank != 0) return;
    printf("launched as");
    for (int i = 0; i < ranks; ++i) printf(" %d", all[i]);
    printf("\n");
}

static void messages(void) {
    int in = -1;
    MPI_Status status;
    MPI_Request requests[2];
    MPI_Sendrecv(&rank, 1, MPI_INT, next_rank(), 1, &in, 1, MPI_INT, rank_before(), 1, MPI_COMM_WORLD, &status);
    expect(in == rank_before() && status.MPI_SOURCE == rank_before());
    in = -1;
    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Issend(&rank, 1, MPI_INT, next_rank(), 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[0], &status);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    expect(in == rank_before() && status.MPI_SOURCE == rank_before());
    MPI_Send_init(&rank, 1, MPI_INT, next_rank(), 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&in, 1, MPI_INT, rank_before(), 3, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 3; ++i) {
        in = -1;
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        expect(in == rank_before());
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Message message;
    MPI_Isend(&rank, 1, MPI_INT, next_rank(), 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Mprobe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &message, &status);
    expect(status.MPI_SOURCE == rank_before());
    MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    expect(in == rank_before());
}

static void collectives(void) {
    int all[64], out[64], sum = 0;
    for (int root = 0; root < ranks; ++root) {
        int word = rank == root ? 100 + root : -1;
        MPI_Bcast(&word, 1, MPI_INT, root, MPI_COMM_WORLD);
        expect(word == 100 + root);
        sum = -1;
        MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        expect(rank != root || sum == ranks * (ranks - 1) / 2);
        for (int i = 0; i < ranks; ++i) out[i] = 1000 * root + i;
        MPI_Scatter(out, 1, MPI_INT, &word, 1, MPI_INT, root, MPI_COMM_WORLD);
        expect(word == 1000 * root + rank);
    }
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; ++i) expect(all[i] == i);
    for (int i = 0; i < ranks; ++i) out[i] = 100 * rank + i;
    MPI_Alltoall(out, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; ++i) expect(all[i] == 100 * i + rank);
    MPI_Scan(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(sum == rank * (rank + 1) / 2);
    sum = 0;
    MPI_Exscan(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(rank == 0 || sum == rank * (rank - 1) / 2);
    MPI_Request request;
    memset(all, -1, sizeof all);
    MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < ranks; ++i) expect(all[i] == i);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static int copied(MPI_Comm comm, int key, void* extra, void* value, void* copy, int* flag) {
    (void)comm, (void)key, (void)extra;
    *(void**)copy = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int count_deleted(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    ++deleted;
    return MPI_SUCCESS;
}

/// The world's at the end of MPI.
static int last(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)extra;
    if (rank == 0) printf("the attribute %s of the world is deleted\n", (char*)value);
    return MPI_SUCCESS;
}

/// Of MPI_COMM_SELF at the end of MPI, when that can still be used.
static int ending(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    int all[64], here = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &here);
    expect(here == rank);
    MPI_Gather(&wrong, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    int sum = 0;
    for (int i = 0; rank == 0 && i < ranks; ++i) sum += all[i];
    if (rank == 0) printf("%d wrong values at the end\n", sum);
    return MPI_SUCCESS;
}

static void attributes(void) {
    void* value = NULL;
    int found = 0, key = MPI_KEYVAL_INVALID;
    MPI_Comm dup;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
    expect(found && *(int*)value >= 32767);
    const int most = *(int*)value;
    int in = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, next_rank(), most, &in, 1, MPI_INT, rank_before(), most, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    expect(in == rank_before());
    const int predefined[] = {MPI_TAG_UB,   MPI_HOST,          MPI_IO,
                              MPI_APPNUM,   MPI_WTIME_IS_GLOBAL, MPI_UNIVERSE_SIZE,
                              MPI_LASTUSEDCODE};
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    for (int i = 0; i < 7; ++i) {
        MPI_Comm_get_attr(MPI_COMM_WORLD, predefined[i], &value, &found);
        const int number = found ? *(int*)value : 0;
        int same = 0;
        MPI_Comm_get_attr(dup, predefined[i], &value, &same);
        if (rank == 0) printf("attribute %d: %d %d; of a duplicate: %d\n", i, found, number, same);
    }
    MPI_Comm_free(&dup);
    MPI_Comm_create_keyval(copied, count_deleted, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &rank);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &found);
    expect(found && value == &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_get_attr(dup, key, &value, &found);
    expect(found && value == &rank);
    expect(deleted == 0);
    MPI_Comm_free(&dup);
    expect(deleted == 1);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    expect(deleted == 2);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &found);
    expect(!found);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, last, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, "colour");
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, ending, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}

static void names(void) {
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    expect(strcmp(name, "MPI_COMM_WORLD") == 0 && length == 14);
    MPI_Comm_set_name(MPI_COMM_WORLD, "all of us");
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    expect(strcmp(name, "all of us") == 0);
}

static void handle(MPI_Comm* comm, int* code, ...) {
    int here = -1;
    (void)code;
    MPI_Comm_rank(*comm, &here);
    expect(here == rank);
    ++handled;
}

static void errors(void) {
    MPI_Errhandler at_start, own;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &at_start);
    expect(at_start == MPI_ERRORS_ARE_FATAL);
    MPI_Comm_create_errhandler((MPI_Comm_errhandler_function*)handle, &own);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
    expect(handled == 1);
    MPI_Send(&rank, 1, MPI_INT, ranks, 0, MPI_COMM_WORLD);
    expect(handled == 2);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    expect(MPI_Send(&rank, 1, MPI_INT, ranks, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
    // One that has no communicator.
    int size;
    expect(MPI_Type_size(MPI_DATATYPE_NULL, &size) != MPI_SUCCESS);
    MPI_Comm copy = MPI_COMM_WORLD;
    expect(MPI_Comm_free(&copy) != MPI_SUCCESS);
    expect(handled == 2);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, at_start);
    MPI_Errhandler_free(&at_start);
    MPI_Errhandler_free(&own);
}

static void communicators(void) {
    MPI_Group group, other;
    MPI_Comm made;
    int result, here, size;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group_rank(group, &here);
    expect(here == rank);
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result);
    expect(result == MPI_IDENT);
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_SELF, &result);
    expect(ranks == 1 ? result == MPI_CONGRUENT : result == MPI_UNEQUAL);
    MPI_Request request;
    for (int kind = 0; kind < 2; ++kind) {
        if (kind == 0) {
            MPI_Comm_dup(MPI_COMM_WORLD, &made);
        } else {
            MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Comm_compare(MPI_COMM_WORLD, made, &result);
        expect(result == MPI_CONGRUENT);
        MPI_Comm_group(made, &other);
        MPI_Group_compare(group, other, &result);
        expect(result == MPI_IDENT);
        MPI_Group_free(&other);
        MPI_Comm_free(&made);
    }
    const int last_half[1][3] = {{ranks / 2, ranks - 1, 1}};
    MPI_Group_range_incl(group, 1, (int(*)[3])last_half, &other);
    MPI_Comm_create(MPI_COMM_WORLD, other, &made);
    expect((made == MPI_COMM_NULL) == (rank < ranks / 2));
    if (made != MPI_COMM_NULL) {
        MPI_Comm_rank(made, &here);
        expect(here == rank - ranks / 2);
        MPI_Comm_free(&made);
        MPI_Comm_create_group(MPI_COMM_WORLD, other, 5, &made);
        MPI_Comm_rank(made, &here);
        expect(here == rank - ranks / 2);
        MPI_Comm_free(&made);
    }
    MPI_Group_free(&other);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &made);
    MPI_Comm_size(made, &size);
    MPI_Comm_rank(made, &here);
    expect(size == (ranks + 1 - rank % 2) / 2 && here == size - 1 - rank / 2);
    MPI_Comm_free(&made);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
    MPI_Comm_rank(made, &here);
    MPI_Comm_size(made, &size);
    expect(size == ranks && here == rank);
    MPI_Comm_free(&made);
    MPI_Comm_test_inter(MPI_COMM_WORLD, &result);
    expect(result == 0);
    MPI_Topo_test(MPI_COMM_WORLD, &result);
    expect(result == MPI_UNDEFINED);
    expect(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    MPI_Group_free(&group);
}

static void topologies(void) {
    MPI_Comm grid, graph;
    int dims[2] = {0, 0}, periods[2] = {1, 0}, coordinates[2], here;
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Comm_rank(grid, &here);
    expect(here == rank);
    MPI_Cart_coords(grid, rank, 2, coordinates);
    expect(coordinates[0] == rank / dims[1] && coordinates[1] == rank % dims[1]);
    MPI_Comm_free(&grid);
    const int from = rank_before(), to = next_rank();
    int in = -1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, &in, 1, MPI_INT, graph);
    expect(in == from);
    MPI_Comm_free(&graph);
    int one = 1;
    in = -1;
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Neighbor_alltoall(&rank, 1, MPI_INT, &in, 1, MPI_INT, graph);
    expect(in == from);
    MPI_Comm_free(&graph);
}

static void windows(void) {
    int *memory, here;
    MPI_Win window;
    MPI_Group group;
    // More than one: MPICH 4.0 loses what is put into windows of 4 bytes.
    MPI_Win_allocate(16 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, (void*)&memory, &window);
    *memory = -1;
    MPI_Win_fence(0, window);
    MPI_Put(&rank, 1, MPI_INT, next_rank(), 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    expect(*memory == rank_before());
    MPI_Win_get_group(window, &group);
    MPI_Group_rank(group, &here);
    expect(here == rank);
    MPI_Group_free(&group);
    MPI_Win_free(&window);
}

static void files(void) {
    char name[64];
    int number = (int)MPI_Wtime(), in = -1;
    MPI_File file;
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "world-%d.bin", number);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_write_ordered(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at_all(file, next_rank() * (MPI_Offset)sizeof in, &in, 1, MPI_INT, MPI_STATUS_IGNORE);
    expect(in == next_rank());
    MPI_File_close(&file);
}

static void between(void) {
    if (ranks < 2) return;
    MPI_Comm half, inter, merged;
    int here, size;
    const int high = rank >= ranks / 2;
    MPI_Comm_split(MPI_COMM_WORLD, high, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, high ? 0 : ranks / 2, 6, &inter);
    MPI_Comm_remote_size(inter, &size);
    expect(size == (high ? ranks / 2 : ranks - ranks / 2));
    int word = rank;
    MPI_Comm_rank(half, &here);
    MPI_Bcast(&word, 1, MPI_INT, high ? 0 : here == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    expect(!high || word == 0);
    MPI_Intercomm_merge(inter, high, &merged);
    MPI_Comm_rank(merged, &here);
    expect(here == rank);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static int spawn(char* program) {
    MPI_Comm parent, others;
    char* words[] = {"spawn", NULL};
    int word = -1;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        expect(launched() == rank);
        MPI_Recv(&word, 1, MPI_INT, rank, 0, parent, MPI_STATUS_IGNORE);
        MPI_Send(&word, 1, MPI_INT, rank, 0, parent);
        MPI_Comm_disconnect(&parent);
        return wrong;
    }
    say_order();
    MPI_Comm_spawn(program, words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others, MPI_ERRCODES_IGNORE);
    if (rank < 2) {
        const int mine = 50 + rank;
        MPI_Send(&mine, 1, MPI_INT, rank, 0, others);
        MPI_Recv(&word, 1, MPI_INT, rank, 0, others, MPI_STATUS_IGNORE);
        expect(word == mine);
    }
    MPI_Comm_disconnect(&others);
    return wrong;
}

int main(int argc, char** argv) {
    const char* mode = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (strcmp(mode, "spawn") == 0) {
        const int code = spawn(argv[0]);
        MPI_Finalize();
        return code;
    }
    say_order();
    if (strcmp(mode, "abort") == 0) {
        fflush(stdout);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 7);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (strcmp(mode, "order") != 0) {
        errors();
        messages();
        collectives();
        attributes();
        names();
        communicators();
        topologies();
        windows();
        files();
        between();
        int sum = 0;
        MPI_Reduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0) printf("%d wrong values\n", sum);
    }
    MPI_Finalize();
    return 0;
}
