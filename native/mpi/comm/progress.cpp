// SPDX-License-Identifier: BSD-3-Clause
#include "comm/progress.hpp"

#include <cinttypes>
#include <cstdio>

namespace isochrone::mpi::comm {

void ProgressLines::show(std::uint64_t done) {
    const auto now = std::chrono::steady_clock::now();
    if (done < total_ && now - shown_ < std::chrono::milliseconds(500)) return;
    shown_ = now;
    std::fprintf(stderr, "progress %" PRIu64 " %" PRIu64 "\n", done, total_);
}

}  // namespace isochrone::mpi::comm
