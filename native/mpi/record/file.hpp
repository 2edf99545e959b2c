// SPDX-License-Identifier: BSD-3-Clause
//
// graph.json, as rank 0 writes it. Its form is said in src/isochrone/files/schemas/graph.json.
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "comm/place.hpp"
#include "record/recorder.hpp"

namespace isochrone::mpi::record {

/// The name under which the file is written until it is whole. While MPI runs it is there, and empty.
[[nodiscard]] std::string unfinished(const std::string& path);

/// Runs [first, count, step] of ranks with one distance, in the order of the ranks, as JSON.
[[nodiscard]] std::string runs_of(const std::vector<int>& ranks);

/// Where a file comes from, as JSON: the command line is that of this process.
[[nodiscard]] std::string provenance();

/// Writes a file beside its place and moves it there when it is whole. Says why where it cannot be, else
/// nothing.
[[nodiscard]] std::string write_whole(const std::string& path, const std::function<void(std::FILE*)>& fill);

/// Writes the record, as write_whole does.
[[nodiscard]] std::string write(const std::string& path, const Record& record,
                                const std::vector<comm::Place>& places);

}  // namespace isochrone::mpi::record
