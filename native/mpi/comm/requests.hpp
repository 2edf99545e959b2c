// SPDX-License-Identifier: BSD-3-Clause
//
// What standard input asks of a running program, line by line. Only rank 0 reads.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace isochrone::mpi::comm {

/// The next line without its line break; none at the end of the input, and none for the line "end", as Open
/// MPI 5 does not pass the end of its standard input on. Throws Failure, a usage error, if the line is longer
/// than so many characters or is cut off.
[[nodiscard]] std::optional<std::string> next_request(std::size_t longest);

}  // namespace isochrone::mpi::comm
