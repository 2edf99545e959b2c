// SPDX-License-Identifier: BSD-3-Clause
//
// The lines of measurements.jsonl, as text.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "clock/clock.hpp"
#include "comm/library.hpp"
#include "comm/place.hpp"
#include "probe/options.hpp"
#include "probe/pingpong.hpp"
#include "probe/plogp.hpp"

namespace isochrone::mpi::probe {

/// What was measured of one pair; `low` is the lesser rank.
struct PairRecord {
    int low = 0;
    int high = 0;
    double at_s = 0;  ///< since the run started
    PairTimes times;
    std::vector<Parameters> parameters;  ///< one for each direction that was measured
};

/// The first line. `provenance` is an object of comm::provenance_json.
[[nodiscard]] nlohmann::ordered_json header_json(const Options& options,
                                                 const std::vector<comm::Place>& places,
                                                 const comm::Library& library,
                                                 const clock::Calibration& calibration,
                                                 nlohmann::ordered_json provenance);

/// Lines end with a line break.
[[nodiscard]] std::string pair_line(const PairRecord& record);
[[nodiscard]] std::string end_line(double elapsed_s, std::uint64_t pairs);

}  // namespace isochrone::mpi::probe
