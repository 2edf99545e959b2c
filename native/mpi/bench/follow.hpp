// SPDX-License-Identifier: BSD-3-Clause
//
// Times what standard input asks for, one work after the other, so that whoever reads the results decides
// what to time next and a launch is paid for once:
//
//   {"work": FILE, "output": FILE, "topology": FILE, "plan": FILE}     the last two may be missing
//   end: that is all; so is the end of the input
//
// One line each, of the same meaning as the options. Rank 0 answers {"done": OUTPUT} on standard output.
#pragma once

#include <mpi.h>

#include <functional>

#include "bench/options.hpp"

namespace isochrone::mpi::bench {

/// Collective; `time_one` is run for each request and returns an exit code, the same on all ranks, as this
/// does. One that is not 0 ends it. Throws comm::Failure, a usage error, on all ranks for any other line.
[[nodiscard]] int follow(MPI_Comm comm, const std::function<int(const Options&)>& time_one);

}  // namespace isochrone::mpi::bench
