// SPDX-License-Identifier: BSD-3-Clause
//
// The one place where MPI return codes are looked at.
#pragma once

#include <mpi.h>

#include <stdexcept>

namespace isochrone::mpi::comm {

/// An MPI call that failed; what() names the call and has the library's own words for the error.
class Error : public std::runtime_error {
  public:
    Error(const char* call, int code);
    [[nodiscard]] int code() const { return code_; }

  private:
    int code_;
};

/// Throws Error if `code`, which `call` returned, is not MPI_SUCCESS.
inline void check(int code, const char* call) {
    if (code != MPI_SUCCESS) throw Error(call, code);
}

/// Makes calls on `comm` return their error codes, so that check() sees them, instead of ending the program.
void return_errors(MPI_Comm comm);

[[nodiscard]] int rank_in(MPI_Comm comm);
[[nodiscard]] int size_of(MPI_Comm comm);

}  // namespace isochrone::mpi::comm
