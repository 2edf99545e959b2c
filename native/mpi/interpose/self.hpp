// SPDX-License-Identifier: BSD-3-Clause
//
// A communicator of this rank alone. What the library would say of a call is asked there, and data that only
// it can pack are sent there.
#pragma once

#include <mpi.h>

#include <mutex>

#include "comm/check.hpp"

namespace isochrone::mpi::interpose {

class Self {
  public:
    /// Local; made by a split, which runs no attribute copy functions. Throws comm::Error.
    Self() {
        comm::check(PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &comm_), "MPI_Comm_split");
        comm::return_errors(comm_);
    }
    Self(const Self&) = delete;
    Self& operator=(const Self&) = delete;

    /// Calls act(comm); one thread at a time, as MPI wants it for collectives and as messages need it whose
    /// tags are alike.
    template <class Act>
    auto with(Act&& act) {
        const std::lock_guard lock(mutex_);
        return act(comm_);
    }

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;  // left to MPI_Finalize
    std::mutex mutex_;
};

}  // namespace isochrone::mpi::interpose
