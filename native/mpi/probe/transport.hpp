// SPDX-License-Identifier: BSD-3-Clause
//
// Results on their way to rank 0, as plain numbers: ranks, sizes and counts are exact in a double.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "probe/record.hpp"

namespace isochrone::mpi::probe {

/// Appends what a rank has measured as initiator of a pair.
void pack(const PairRecord& record, std::vector<double>& packed);

/// Appends the parameters that it has measured as responder to `initiator`.
void pack(const Parameters& found, int initiator, std::vector<double>& packed);

/// All ranks' values on rank 0, rank by rank; nothing elsewhere. Collective.
[[nodiscard]] std::vector<double> collect(MPI_Comm comm, std::vector<double> mine);

/// A record for each pair in what pack() has appended, in the order of time; each has times of so many sizes.
[[nodiscard]] std::vector<PairRecord> unpack(const std::vector<double>& packed, std::size_t sizes);

}  // namespace isochrone::mpi::probe
