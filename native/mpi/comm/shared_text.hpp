// SPDX-License-Identifier: BSD-3-Clause
//
// What rank 0 alone reads or asks for, brought to all ranks: a text, or the failure that it met.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace isochrone::mpi::comm {

/// So long a text may be: its length is an int to MPI.
inline constexpr std::size_t longest_text = (std::size_t{1} << 30) - 1;

/// What `read` gives on rank 0, on all ranks; other ranks do not call it. Collective. What it throws, all
/// ranks throw: Failure of the same line and code, and Failure of the code `failure` for any other exception.
/// So they do for a longer text than the longest, which is a usage error.
[[nodiscard]] std::optional<std::string> shared_text(MPI_Comm comm,
                                                     const std::function<std::optional<std::string>()>& read);

}  // namespace isochrone::mpi::comm
