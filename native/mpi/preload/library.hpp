// SPDX-License-Identifier: BSD-3-Clause
//
// What a preloaded library can tell of the program that it is in before MPI can be asked.
#pragma once

namespace isochrone::mpi::preload {

/// Whether this is rank 0, as far as the launcher's variables tell; where they do not, it is. For what is to
/// be said while MPI cannot be asked.
[[nodiscard]] bool is_rank_0_of_launcher();

/// Whether the MPI library of this program has the handles that this preload was built for. May be asked at
/// any time.
[[nodiscard]] bool is_of_this_library();

/// In one line, on rank 0.
void say_that_library_is_another();

}  // namespace isochrone::mpi::preload
