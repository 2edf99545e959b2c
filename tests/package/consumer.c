/* SPDX-License-Identifier: BSD-3-Clause
 *
 * consumer [PLAN TOPOLOGY]: broadcasts, and what isochrone.h says before and after; rank 0 prints it. The plan may
 * be in the environment instead.
 */
#include <isochrone.h>
#include <stdio.h>
#include <string.h>

static int rank;

static void tell(const char *what, int code) {
    if (rank == 0) printf("%s: %s\n", what, isochrone_error_text(code));
}

int main(int argc, char **argv) {
    char text[200], little[4];
    int levels = 0, group = -1, size = -1, leader = -1, lowest, wrong = 0;
    isochrone_counters counters;
    MPI_Comm reversed, self;
    if (isochrone_open("plan", "topology") != ISOCHRONE_ERR_ORDER) return 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 2) {
        tell("counters before", isochrone_read_counters(NULL, &counters));
        tell("open", isochrone_open(argv[1], argv[2]));
    }
    tell("open again", isochrone_open("plan", "topology"));
    if (rank == 0) printf("version %s, open %d\n", isochrone_version(), isochrone_is_open());

    tell("levels", isochrone_level_count(&levels));
    for (int level = 0; level < levels; level++) {
        isochrone_level_name(level, text, sizeof text);
        if (rank == 0) printf("level %d: %s\n", level, text);
    }
    tell("no such level", isochrone_level_name(levels, text, sizeof text));
    tell("no room", isochrone_level_name(0, little, sizeof little));
    if (rank == 0) printf("room for %s\n", little);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &self);
    tell("group", isochrone_group(reversed, 0, &group, &size, &leader));
    MPI_Allreduce(&leader, &lowest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) printf("group %d of %d ranks, led by %d, on all ranks %d\n", group, size, leader, lowest);
    tell("group of one", isochrone_group(self, 0, NULL, &size, NULL));
    if (rank == 0) printf("%d rank\n", size);

    tell("recipe", isochrone_recipe(MPI_COMM_WORLD, "bcast", 8, 1, text, sizeof text));
    if (rank == 0) printf("%s\n", text);
    tell("recipe of one", isochrone_recipe(self, "bcast", 8, 0, text, sizeof text));
    if (rank == 0) printf("%s\n", text);
    tell("no such collective", isochrone_recipe(MPI_COMM_WORLD, "scatterbrain", 8, 0, text, sizeof text));
    tell("no such root", isochrone_recipe(MPI_COMM_WORLD, "bcast", 8, 99, text, sizeof text));

    for (int i = 0; i < 20; i++) {
        double value = rank == 0 ? i : -1;
        MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        wrong += value != i;
    }
    memset(&counters, 0, sizeof counters);
    tell("counters", isochrone_read_counters("bcast", &counters));
    if (rank == 0) {
        printf("%d calls, time %d, saved %d\n", (int)counters.calls, counters.seconds > 0, counters.saved_s > 0);
    }
    isochrone_read_counters("barrier", &counters);
    if (rank == 0) printf("%d barriers\n", (int)counters.calls);
    MPI_Comm_free(&reversed);
    MPI_Comm_free(&self);
    MPI_Finalize();
    tell("after the end", isochrone_level_count(&levels));
    if (wrong > 0) printf("%d wrong\n", wrong);
    return wrong > 0;
}
