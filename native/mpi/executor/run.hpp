// SPDX-License-Identifier: BSD-3-Clause
//
// Runs one rank's schedule over MPI: point-to-point messages, and the library's own collectives where the
// schedule says so.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "executor/groups.hpp"
#include "schedule/extents.hpp"
#include "schedule/schedule.hpp"

namespace isochrone::mpi::executor {

/// The caller's buffers. Contiguous: packing a derived datatype is the caller's affair.
struct Buffers {
    const void* input = nullptr;
    void* output = nullptr;
    bool in_place = false;                      ///< the input is where the output will be (MPI_IN_PLACE)
    std::int64_t unit_bytes = 1;                ///< bytes of the unit in which extents count
    MPI_Datatype datatype = MPI_DATATYPE_NULL;  ///< of one unit; reductions only
    MPI_Op op = MPI_OP_NULL;                    ///< reductions only
};

/// Temporary memory that is kept from one run to the next.
using Scratch = std::vector<std::vector<std::byte>>;

/// Where a run takes place.
struct Stage {
    MPI_Comm comm = MPI_COMM_NULL;
    const int* ranks = nullptr;  ///< number in `comm` of each rank of the schedule
    int tag = 0;
    int window = 1;                  ///< operations under way towards one peer, 1 to 64
    const Groups* groups = nullptr;  ///< for library collectives; made of `comm`
};

/// Runs one schedule, as often as one likes: what a run needs is laid out once, and later runs that need no
/// more of it allocate nothing.
class Runner {
  public:
    /// `schedule` must outlive this.
    explicit Runner(const core::schedule::Schedule& schedule);
    ~Runner();
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    /// Collective over all ranks whose schedules belong together. Throws comm::Error if an MPI call fails.
    /// Then all receives have been taken back, but sends may go on reading `buffers` and `scratch`.
    void run(const core::schedule::Extents& extents, const Buffers& buffers, const Stage& stage,
             Scratch& scratch);

  private:
    class Run;
    std::unique_ptr<Run> run_;
};

}  // namespace isochrone::mpi::executor
