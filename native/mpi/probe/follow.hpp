// SPDX-License-Identifier: BSD-3-Clause
//
// Measures what standard input asks for: whoever reads the results decides what to measure next.
//
//   rtt 0-5,2-3,...                round trips of these pairs
//   plogp 0-5,...                  all PLogP parameters of these pairs too
//   alone 0-5,...                  round trips, one pair at a time
//   stream BYTES COUNT 5-0,...     the first rank of each pair sends so many messages to the second, at once
//   end                            that is all; so is the end of the input
//
// One line at a time; the next one is read when all pairs of the line before are measured and written. Only
// rank 0 reads.
#pragma once

#include <mpi.h>

#include "probe/campaign.hpp"

namespace isochrone::mpi::probe {

/// Collective; returns the same exit code on all ranks. A line that asks for something else ends the run with
/// a usage error, of which rank 0 prints a line.
[[nodiscard]] int follow(MPI_Comm comm, Campaign& campaign, bool plogp);

}  // namespace isochrone::mpi::probe
