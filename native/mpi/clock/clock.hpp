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

/// How ranks wait on a machine (see machines.hpp).
struct Occupancy {
    int ranks = 1;    ///< of the communicator, on this machine
    int cpus = 1;     ///< on which any of them may run
    int machine = 0;  ///< the least of these ranks

    /// Then a rank that spins takes time away from the rank it waits for.
    [[nodiscard]] bool oversubscribed() const { return ranks > cpus; }
};

/// Waits until now() >= time_s: spinning where there is a CPU for each rank, else asleep.
void sleep_until(double time_s, const Occupancy& occupancy);

/// Lets other processes of this host run for about `duration_s`.
void sleep_for(double duration_s);

}  // namespace isochrone::mpi::clock
