// SPDX-License-Identifier: BSD-3-Clause
//
// Runs collectives on one communicator as a plan says. Decides only from what is equal on all ranks: the
// plan, where the ranks sit, the root, and the total number of bytes.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "executor/communicator.hpp"
#include "place/layout.hpp"
#include "select/plan.hpp"

namespace isochrone::mpi::executor {

class Dispatcher {
  public:
    /// What is to be done with a broadcast, and why. The reference that decide_bcast returns stays good.
    struct Decision {
        const core::compose::Resolved* resolved = nullptr;  ///< nullptr: the library's own
        std::string reason;
        const core::select::Rule* rule = nullptr;  ///< that holds; nullptr: nothing was measured
    };

    /// Not collective: communicators are made when a recipe first needs one. `plan` must outlive this.
    /// `usable` says whether this rank's memory may be read and written by the processor; asked once, when it
    /// first matters.
    Dispatcher(MPI_Comm comm, core::place::Layout layout, const core::select::Plan& plan,
               std::function<bool()> usable = {});

    /// Collective whenever a recipe is first chosen.
    const Decision& decide_bcast(int root, std::int64_t bytes);

    /// Collective. Broadcasts `bytes` contiguous bytes by a decision that is not the library's own.
    void bcast(const Decision& decision, void* data, std::int64_t bytes, int root);

    /// For the end of MPI: leaves the communicators to it.
    void abandon();

  private:
    /// The decisions for one root, by the rule that holds (nullptr: none).
    struct Root {
        std::string shape;
        std::unordered_map<const core::select::Rule*, Decision> by_rule;
    };
    Decision make_decision(int root, std::int64_t bytes);
    bool open();

    MPI_Comm comm_;
    core::place::Layout layout_;
    const core::select::Plan& plan_;
    std::function<bool()> usable_;
    std::unordered_map<int, Root> roots_;
    std::unique_ptr<Communicator> communicator_;
    bool refused_ = false;
};

}  // namespace isochrone::mpi::executor
