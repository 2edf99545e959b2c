// SPDX-License-Identifier: BSD-3-Clause
//
// The ranks that some cases are for, all or some of them, with what they need to run collectives in every
// way that can be asked for.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "bench/library.hpp"
#include "clock/clock.hpp"
#include "executor/communicator.hpp"
#include "executor/dispatcher.hpp"
#include "place/layout.hpp"
#include "select/plan.hpp"

namespace isochrone::mpi::bench {

class Party {
  public:
    /// Collective over `all`, also for those that take no part. `members` are ascending ranks of it; empty:
    /// every rank. `layout`: of all ranks. `plan`: nullptr, or one that outlives this. Throws comm::Error.
    Party(MPI_Comm all, const std::vector<int>& members, const clock::Occupancy& occupancy,
          const core::place::Layout& layout, const core::select::Plan* plan);
    ~Party();
    Party(const Party&) = delete;
    Party& operator=(const Party&) = delete;

    /// Whether this rank is a member. The others have nothing of what follows.
    [[nodiscard]] bool takes_part() const { return comm_ != MPI_COMM_NULL; }
    [[nodiscard]] MPI_Comm comm() const { return comm_; }
    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return size_; }
    /// How this rank waits where it stands.
    [[nodiscard]] const clock::Occupancy& occupancy() const { return occupancy_; }
    [[nodiscard]] Library& library() const { return *library_; }
    [[nodiscard]] executor::Communicator& communicator() const { return *communicator_; }
    [[nodiscard]] executor::Dispatcher* dispatcher() const { return dispatcher_.get(); }  ///< or nullptr

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    bool owns_comm_ = false;
    int rank_ = 0;
    int size_ = 0;
    clock::Occupancy occupancy_;
    std::unique_ptr<Library> library_;
    std::unique_ptr<executor::Communicator> communicator_;
    std::unique_ptr<executor::Dispatcher> dispatcher_;
};

}  // namespace isochrone::mpi::bench
