// SPDX-License-Identifier: BSD-3-Clause
//
// The lines of measurements.jsonl, as text.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
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

/// Messages of several pairs at once, from the first rank of each to the second.
struct StreamRecord {
    std::vector<std::pair<int, int>> pairs;
    std::int64_t bytes = 0;         ///< of a message
    int messages = 0;               ///< of each pair
    std::vector<double> elapsed_s;  ///< of each pair, from its first byte to the answer to its last
    double at_s = 0;                ///< since the run started
};

/// The first line. `provenance` is an object of comm::provenance_json.
[[nodiscard]] nlohmann::ordered_json header_json(const Options& options,
                                                 const std::vector<comm::Place>& places,
                                                 const comm::Library& library,
                                                 const clock::Calibration& calibration,
                                                 nlohmann::ordered_json provenance);

/// Lines end with a line break.
/// `repetitions` of the header: a pair that has as many of each size does not say so. `alone`: the pair was
/// measured alone, to be compared.
[[nodiscard]] std::string pair_line(const PairRecord& record, int repetitions, bool alone);
[[nodiscard]] std::string stream_line(const StreamRecord& record);
[[nodiscard]] std::string end_line(double elapsed_s, std::uint64_t pairs);

}  // namespace isochrone::mpi::probe
