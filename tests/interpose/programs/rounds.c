/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ROUNDS broadcasts of different sizes, each rank in turn being the root. Rank 0 prints how many values arrived wrong on all ranks.
 * Each rank says on stderr if it has taken more memory than the first argument, in MiB.
 *
 *   -DLARGE    by MPI_Bcast_c
 *   -DBOTTOM   from addresses of their own and MPI_BOTTOM, on odd ranks
 *   -DSESSION  on a communicator of a session; the world is never started
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { ROUNDS = 20, STEP = 50 };

static MPI_Comm start(int *argc, char ***argv) {
#ifdef SESSION
    static MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    (void)argc, (void)argv;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "rounds", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    return comm;
#else
    MPI_Init(argc, argv);
    return MPI_COMM_WORLD;
#endif
}

int main(int argc, char **argv) {
    MPI_Comm comm = start(&argc, &argv);
    int rank, size, wrong = 0, wrong_on_all = 0;
    static int data[ROUNDS * STEP];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int round = 1; round <= ROUNDS; round++) {
        const int root = round % size;
        for (int i = 0; i < STEP * round; i++) data[i] = rank == root ? 1000 * round + i : -1;
#if defined(LARGE)
        MPI_Bcast_c(data, (MPI_Count)(STEP * round), MPI_INT, root, comm);
#elif defined(BOTTOM)
        const int length = STEP * round;
        MPI_Aint address;
        MPI_Datatype there;
        MPI_Get_address(data, &address);
        MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &there);
        MPI_Type_commit(&there);
        if (rank % 2 == 1) {
            MPI_Bcast(MPI_BOTTOM, 1, there, root, comm);
        } else {
            MPI_Bcast(data, length, MPI_INT, root, comm);
        }
        MPI_Type_free(&there);
#else
        MPI_Bcast(data, STEP * round, MPI_INT, root, comm);
#endif
        for (int i = 0; i < STEP * round; i++) wrong += data[i] != 1000 * round + i;
    }
    MPI_Reduce(&wrong, &wrong_on_all, 1, MPI_INT, MPI_SUM, 0, comm);
    if (rank == 0) printf("%d broadcasts, %d wrong values\n", ROUNDS, wrong_on_all);
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    const long peak_mib = used.ru_maxrss / 1024;
    if (argc > 1 && peak_mib > atol(argv[1])) fprintf(stderr, "rank %d has taken %ld MiB\n", rank, peak_mib);
#ifdef SESSION
    /* The session's end is left to the process's: MPICH 4.0 hangs there now and then. Its launcher may end
       the job at the first rank that leaves so, hence none leaves before the words are out. */
    fflush(stdout);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    _Exit(0);
#else
    MPI_Finalize();
    return 0;
#endif
}
