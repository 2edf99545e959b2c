// SPDX-License-Identifier: BSD-3-Clause
//
// Reads what an earlier run of the probe has left behind. The file may be damaged, or not be ours at all.
#pragma once

#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "probe/pair_set.hpp"

namespace isochrone::mpi::probe {

struct Resume {
    explicit Resume(int ranks) : done(ranks) {}

    PairSet done;
    bool has_header = false;
    bool ended = false;             ///< the last run came to its end
    std::uint64_t valid_bytes = 0;  ///< of the file, from its beginning; what follows is to be cut off
    std::string dropped;            ///< says what is to be cut off and why; empty if nothing is
};

/// Reads from the beginning of `file`; `path` is for messages and `header` is this run's. Of a damaged last
/// line, which a run that was killed leaves behind, it only says so. Throws comm::Failure: usage_error if the
/// file is not that of this run (other ranks, places, settings or MPI library), failure if it is damaged
/// before its last line.
[[nodiscard]] Resume read_measurements(std::FILE* file, const std::string& path,
                                       const nlohmann::ordered_json& header);

}  // namespace isochrone::mpi::probe
