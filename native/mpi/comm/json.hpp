// SPDX-License-Identifier: BSD-3-Clause
//
// The JSON form of places and of the MPI library, as measurements and benchmarks carry it in their first
// line.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "comm/library.hpp"
#include "comm/place.hpp"

namespace isochrone::mpi::comm {

/// One object for each rank: {"host", "cpus" (null where the rank is not bound), "signature"}.
[[nodiscard]] nlohmann::ordered_json places_json(const std::vector<Place>& places);

/// {"library", "version", "abi"}.
[[nodiscard]] nlohmann::ordered_json library_json(const Library& library);

/// {"command", "time" (UTC), "version" (Isochrone's)}.
[[nodiscard]] nlohmann::ordered_json provenance_json(int argc, const char* const* argv);

/// One line of JSON without its line break. Bytes that are not UTF-8 are replaced, never refused.
[[nodiscard]] std::string json_line(const nlohmann::ordered_json& value);

}  // namespace isochrone::mpi::comm
