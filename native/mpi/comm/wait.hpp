// SPDX-License-Identifier: BSD-3-Clause
//
// Waits that leave the cores to others. MPI libraries spin, and what rank 0 waits for may need a core:
// another program, as where it asks for what is next, or the last rank of many that share few cores.
#pragma once

#include <mpi.h>

#include <functional>

namespace isochrone::mpi::comm {

/// Looks until `look` says that it has found what it looks for, or for so many seconds; says whether it has.
/// At first it looks all the time, and yields; later it naps, for 5 ms at most.
bool look_until(const std::function<bool()>& look, double longest_s);

/// Waits until rank 0 comes to it, as long as that takes. Collective.
void wait_for_rank_0(MPI_Comm comm);

}  // namespace isochrone::mpi::comm
