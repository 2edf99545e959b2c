// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace isochrone::mpi::comm {

/// Isochrone's version, which the provenance of every file names.
inline constexpr const char* isochrone_version = "0.1.0";

}  // namespace isochrone::mpi::comm
