// SPDX-License-Identifier: BSD-3-Clause
//
// Time. All timing of Isochrone goes through here, and here it is MPI_Wtime: under SimGrid that is simulated
// time, which no clock of the C++ library shows.
#pragma once

#include <mpi.h>

namespace isochrone::mpi::clock {

/// Seconds since some moment of this process; the moments of two processes may differ (see sync.hpp).
[[nodiscard]] double now();

/// What reading the clock costs and how finely it divides time, both in seconds.
struct Calibration {
    double resolution_s = 0;
    double overhead_s = 0;
};

/// Reads the clock a few hundred times.
[[nodiscard]] Calibration calibrate();

/// How ranks wait on this machine. Several hosts may be one machine, as containers and namespaces are.
struct Occupancy {
    int ranks = 1;    ///< of the communicator, on this machine
    int cpus = 1;     ///< on which any of them may run
    int machine = 0;  ///< the least of these ranks

    /// Then a rank that spins takes time away from the rank it waits for.
    [[nodiscard]] bool oversubscribed() const { return ranks > cpus; }
};

/// The ranks that run on one machine, whatever hosts it pretends to be: they were started since the same
/// boot. To be freed. Collective over `comm`.
[[nodiscard]] MPI_Comm split_by_machine(MPI_Comm comm);

/// Collective over `comm`. Under SimGrid every rank has a core of its own.
[[nodiscard]] Occupancy occupancy(MPI_Comm comm);

/// Whether any machine has fewer CPUs than ranks; the same answer on all ranks. Collective.
[[nodiscard]] bool oversubscribed_anywhere(MPI_Comm comm, const Occupancy& occupancy);

/// Waits until now() >= time_s: spinning where there is a CPU for each rank, else asleep.
void sleep_until(double time_s, const Occupancy& occupancy);

/// Lets other processes of this host run for about `duration_s`.
void sleep_for(double duration_s);

}  // namespace isochrone::mpi::clock
