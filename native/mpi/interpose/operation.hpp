// SPDX-License-Identifier: BSD-3-Clause
//
// The operations of reductions.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "interpose/self.hpp"

namespace isochrone::mpi::interpose {

/// Number of a predefined operation, the same on all ranks; `own_operation` of any other.
[[nodiscard]] std::int64_t operation_number(MPI_Op op);
inline constexpr std::int64_t own_operation = -1;
/// "MPI_SUM", or "an operation of its own".
[[nodiscard]] std::string operation_name(std::int64_t number);

/// Knows which operations go with which types. Any thread may ask.
class Operations {
  public:
    /// Whether the library's own reductions take the operation on this type. `is_basic`: the type is one
    /// that no program made.
    [[nodiscard]] bool fit(MPI_Op op, MPI_Datatype type, bool is_basic, Self& self);

    /// Whether a result is the same to the last bit in whichever order operands are combined, as far as that
    /// is known: a predefined operation, on whole numbers, or one that only picks one of its operands.
    [[nodiscard]] static bool is_exact(MPI_Op op, MPI_Datatype type);

    /// Whether operands may be combined in any order. `op` must be valid. Throws comm::Error.
    [[nodiscard]] static bool commutes(MPI_Op op);

  private:
    std::mutex mutex_;
    std::set<std::pair<MPI_Op, MPI_Datatype>> known_;  // both live for ever
};

}  // namespace isochrone::mpi::interpose
