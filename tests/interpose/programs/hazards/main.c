/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Legal programs that a library in front of MPI_Bcast could break, one for each first word on the command
 * line. A second word is a variant, a third how often. Each checks its own data; rank 0 ends with a line
 * "ok ...", and what is printed is the same whatever runs the broadcasts. Wrong data end the job with an exit
 * code that is not 0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hazards.h"

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
        {"left behind", left_behind},
        {"told by handler", told_by_handler},
        {"callbacks", callbacks},
    };
    Job job = {0, 1, argc > 2 ? argv[2] : "", argc > 3 ? atoi(argv[3]) : 0};
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "ending") == 0) {
        ending(&job);
        return 0;
    }
    /* Most programs have one thread. */
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
