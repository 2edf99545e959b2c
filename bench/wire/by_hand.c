/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A broadcast as one writes it by hand for two racks, in turn with MPI_Bcast of as many bytes, which a plan has a rule
 * for, and of one byte less, which it has none for: by_hand HOSTS_OF_A_RACK RANKS_OF_A_HOST BYTES SEGMENT CALLS. Rank 0
 * prints a line for each of them, with the seconds of every call on its slowest rank. Ranks are in blocks, and all on
 * one machine, as in a lab.
 *
 * The tree: to the other rack first, a chain through the hosts of each rack, and to the other ranks of each host. All
 * receives are posted at the start, and a segment is sent on as soon as it is there.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../clock.h"

static const double LEAD_S = 0.01;
enum { MOST_CHILDREN = 64 };

static int parent = -1, children[MOST_CHILDREN], child_count = 0;

static void make_tree(int rank, int ranks, int hosts_of_a_rack, int ranks_of_a_host) {
  const int host = rank / ranks_of_a_host, in_rack = host % hosts_of_a_rack;
  if (rank % ranks_of_a_host != 0) {
    parent = host * ranks_of_a_host;
    return;
  }
  if (rank > 0)
    parent = in_rack == 0 ? 0 : rank - ranks_of_a_host;
  const int rack_ranks = hosts_of_a_rack * ranks_of_a_host;
  if (rank == 0 && rack_ranks < ranks)
    children[child_count++] = rack_ranks;
  if (in_rack + 1 < hosts_of_a_rack && rank + ranks_of_a_host < ranks)
    children[child_count++] = rank + ranks_of_a_host;
  for (int other = 1; other < ranks_of_a_host; other++)
    children[child_count++] = rank + other;
}

static void by_hand(char *data, int bytes, int segment) {
  const int segments = (bytes + segment - 1) / segment;
  MPI_Request *receives = malloc(sizeof(MPI_Request) * (size_t)segments);
  MPI_Request *sends = malloc(sizeof(MPI_Request) * (size_t)segments * MOST_CHILDREN);
  int sent = 0;
  for (int i = 0; parent >= 0 && i < segments; i++)
    PMPI_Irecv(data + i * segment, i + 1 < segments ? segment : bytes - i * segment, MPI_BYTE, parent, 1,
               MPI_COMM_WORLD, &receives[i]);
  for (int i = 0; i < segments; i++) {
    if (parent >= 0)
      PMPI_Wait(&receives[i], MPI_STATUS_IGNORE);
    for (int child = 0; child < child_count; child++)
      PMPI_Isend(data + i * segment, i + 1 < segments ? segment : bytes - i * segment, MPI_BYTE, children[child], 1,
                 MPI_COMM_WORLD, &sends[sent++]);
  }
  PMPI_Waitall(sent, sends, MPI_STATUSES_IGNORE);
  free(receives), free(sends);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int ranks_of_a_host = argc == 6 ? atoi(argv[2]) : 0;
  if (ranks_of_a_host < 1 || ranks_of_a_host + 1 > MOST_CHILDREN || atoi(argv[4]) < 1)
    MPI_Abort(MPI_COMM_WORLD, 2);
  make_tree(rank, ranks, atoi(argv[1]), ranks_of_a_host);
  const int bytes = atoi(argv[3]), segment = atoi(argv[4]), calls = atoi(argv[5]);
  enum { BY_HAND, MPI, NATIVE, WAYS };
  static const char *const names[WAYS] = {"by_hand", "mpi", "native"};
  char *data = malloc((size_t)bytes);
  double *took = malloc(sizeof(double) * (size_t)calls * WAYS), *slowest = malloc(sizeof(double) * (size_t)calls * WAYS);
  for (int i = -1; i < calls; i++) { /* The first call of each sets up connections, and does not count. */
    for (int turn = 0; turn < WAYS; turn++) {
      const int way = (turn + i + WAYS) % WAYS;
      memset(data, rank == 0 ? (i + way) & 127 : 0x80, (size_t)bytes);
      const double start = start_together(rank, LEAD_S);
      if (way == BY_HAND)
        by_hand(data, bytes, segment);
      else if (way == MPI)
        MPI_Bcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
      else
        MPI_Bcast(data, bytes - 1, MPI_BYTE, 0, MPI_COMM_WORLD);
      if (i >= 0)
        took[way * calls + i] = now() - start;
      start_together(rank, 0); /* What checks takes a core from ranks that are still in the call. */
      for (int at = 0; at < bytes - (way == NATIVE); at++)
        if (data[at] != ((i + way) & 127))
          MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  PMPI_Reduce(took, slowest, calls * WAYS, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  for (int way = 0; rank == 0 && way < WAYS; way++) {
    printf("%s", names[way]);
    for (int i = 0; i < calls; i++)
      printf(" %.9f", slowest[way * calls + i]);
    printf("\n");
  }
  free(data), free(took), free(slowest);
  MPI_Finalize();
  return 0;
}
