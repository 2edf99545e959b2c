// SPDX-License-Identifier: BSD-3-Clause
//
// What a library can be told while the program runs: control variables of MPI's tool interface (MPI 4.0,
// section 15.3). SimGrid has none.
#pragma once

#include <mpi.h>

#include <string>

namespace isochrone::mpi::bench {

struct ControlVariable {
    int index = -1;  ///< negative: the library has none of that name
    MPI_T_enum names = MPI_T_ENUM_NULL;
    std::string description;
    bool is_fixed = false;  ///< it can be read only
};

[[nodiscard]] ControlVariable find_variable(const std::string& wanted);

/// Throws comm::Error if it cannot be set.
void set_variable(int index, int value);

/// Of a variable that is a number; 0 if it is not there. Throws comm::Error if it cannot be read.
[[nodiscard]] int value_of(const std::string& name);

}  // namespace isochrone::mpi::bench
