// SPDX-License-Identifier: BSD-3-Clause
//
// Which MPI library this program runs on.
#pragma once

#include <string>

namespace isochrone::mpi::comm {

struct Library {
    std::string name;     ///< first line of MPI_Get_library_version
    std::string version;  ///< of the MPI standard, such as "3.1"
    std::string abi;      ///< soname of the loaded library, such as "libmpi.so.40"; "smpi" under SimGrid,
                          ///< "static" without one

    bool operator==(const Library&) const = default;
};

[[nodiscard]] Library library_identity();

}  // namespace isochrone::mpi::comm
