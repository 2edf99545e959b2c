/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Times a program's own collectives, as a program makes them: calls COLLECTIVE BYTES CALLS ... prints a line for each
 * three, with the seconds of every call on its slowest rank. All ranks start a call at one moment of one clock, so all
 * of them run on one machine, as in a lab. They agree on it by messages between two ranks, which no preload takes the
 * place of.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../clock.h"

static const double LEAD_S = 0.01;

static void call(const char *name, unsigned char *from, unsigned char *to, int bytes) {
  if (strcmp(name, "bcast") == 0)
    MPI_Bcast(to, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  else if (strcmp(name, "reduce") == 0)
    MPI_Reduce(from, to, bytes / 4, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  else if (strcmp(name, "allreduce") == 0)
    MPI_Allreduce(from, to, bytes / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  else if (strcmp(name, "allgather") == 0)
    MPI_Allgather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, MPI_COMM_WORLD);
  else
    MPI_Abort(MPI_COMM_WORLD, 2);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int at = 1; at + 2 < argc; at += 3) {
    const int bytes = atoi(argv[at + 1]), calls = atoi(argv[at + 2]);
    unsigned char *from = calloc(1, (size_t)bytes + 1), *to = calloc((size_t)ranks, (size_t)bytes + 1);
    double *took = malloc(sizeof(double) * (size_t)calls), *slowest = malloc(sizeof(double) * (size_t)calls);
    for (int i = 0; i < calls; i++) {
      const double start = start_together(rank, LEAD_S);
      call(argv[at], from, to, bytes);
      took[i] = now() - start;
    }
    PMPI_Reduce(took, slowest, calls, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
      printf("%s %d", argv[at], bytes);
      for (int i = 0; i < calls; i++)
        printf(" %.9f", slowest[i]);
      printf("\n");
    }
    free(from), free(to), free(took), free(slowest);
  }
  MPI_Finalize();
  return 0;
}
