// SPDX-License-Identifier: BSD-3-Clause
#include "preload/library.hpp"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "comm/library.hpp"

namespace isochrone::mpi::preload {

bool is_rank_0_of_launcher() {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
        if (const char* rank = std::getenv(name); rank != nullptr && *rank != '\0')
            return std::string_view(rank) == "0";
    }
    return true;
}

bool is_of_this_library() {
#if defined(OPEN_MPI)
    constexpr std::string_view ours = "Open MPI";
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION) || defined(MPICH)
    constexpr std::string_view ours = "MPICH";
#else
    constexpr std::string_view ours = "the standard ABI";
#endif
    // Those that share MPICH's handles have names of their own.
    const comm::Library library = comm::library_identity();
    if (library.abi.starts_with("libmpi_abi")) return ours == "the standard ABI";
    return library.name.starts_with("Open MPI") ? ours == "Open MPI" : ours == "MPICH";
}

void say_that_library_is_another() {
    if (!is_rank_0_of_launcher()) return;
    std::fprintf(
        stderr,
        "isochrone: this preload was built for another MPI library than the program: it does nothing; "
        "see isochrone mpi list\n");
}

}  // namespace isochrone::mpi::preload
