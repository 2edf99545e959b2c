// SPDX-License-Identifier: BSD-3-Clause
//
// profile.json, as rank 0 writes it. Its form is said in src/isochrone/files/schemas/profile.json.
#pragma once

#include <string>
#include <vector>

#include "comm/place.hpp"
#include "record/profiler.hpp"

namespace isochrone::mpi::record {

/// Writes the profile, as write_whole does.
[[nodiscard]] std::string write(const std::string& path, const Profile& profile,
                                const std::vector<comm::Place>& places);

}  // namespace isochrone::mpi::record
