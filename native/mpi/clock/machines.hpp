// SPDX-License-Identifier: BSD-3-Clause
//
// Which ranks share a machine, its CPUs and its clock.
#pragma once

#include <mpi.h>

#include <vector>

#include "clock/clock.hpp"

namespace isochrone::mpi::clock {

/// The machines that the ranks of a communicator run on. Several hosts may be one machine, as containers and
/// namespaces are: they were started since the same boot.
class Machines {
  public:
    /// Collective over `comm`: two small allgathers, as over slow links each collective takes as long as a
    /// measurement. Where the system does not tell its boot, ranks that have memory in common are on one
    /// machine. Under SimGrid each rank has one.
    explicit Machines(MPI_Comm comm);

    /// For each rank, the least rank on its machine.
    [[nodiscard]] const std::vector<int>& first() const { return first_; }
    /// Of this rank's machine. Under SimGrid every rank has a core of its own.
    [[nodiscard]] const Occupancy& occupancy() const { return occupancy_; }
    /// Whether any machine has fewer CPUs than ranks.
    [[nodiscard]] bool any_oversubscribed() const { return any_oversubscribed_; }

  private:
    std::vector<int> first_;
    Occupancy occupancy_;
    bool any_oversubscribed_ = false;
};

}  // namespace isochrone::mpi::clock
