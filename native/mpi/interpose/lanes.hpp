// SPDX-License-Identifier: BSD-3-Clause
//
// Tags for the communicators whose messages share one.
//
// Each has tags that no other one of any of its ranks has: several threads may be in collectives at once, and
// what a call that failed left behind must meet no call on another communicator.
#pragma once

#include <mpi.h>

#include <mutex>
#include <random>
#include <vector>

namespace isochrone::mpi::interpose {

class Lanes {
  public:
    static constexpr int none = -1;

    Lanes();

    /// Collective over `comm`: a lane for it, or `none`, on all its ranks alike: where `usable` is false on
    /// any of them, or no lane is free on all. Throws comm::Error.
    int take(MPI_Comm comm, bool usable);

    /// When a communicator that had a lane is gone. Local.
    void give_back(int lane);

    [[nodiscard]] int first_tag(int lane) const { return lane * tags_; }
    [[nodiscard]] int tags() const { return tags_; }

  private:
    std::vector<int> propose();
    unsigned reserve(const std::vector<int>& lanes);

    int tags_ = 1;
    std::mutex mutex_;  // guards what follows
    std::vector<bool> taken_;
    std::minstd_rand random_;
};

}  // namespace isochrone::mpi::interpose
