// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>

namespace isochrone::mpi::comm {

/// Lines "progress DONE TOTAL" on stderr, at most two a second besides the last. The seconds are the user's,
/// also where MPI_Wtime is simulated.
class ProgressLines {
  public:
    explicit ProgressLines(std::uint64_t total) : total_(total) {}

    void show(std::uint64_t done);

  private:
    std::uint64_t total_;
    std::chrono::steady_clock::time_point shown_ = std::chrono::steady_clock::now();
};

}  // namespace isochrone::mpi::comm
