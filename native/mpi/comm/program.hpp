// SPDX-License-Identifier: BSD-3-Clause
//
// The outer frame of an MPI program: how it starts, how it fails, how it ends.
#pragma once

#include <mpi.h>

#include <functional>
#include <stdexcept>
#include <string>

namespace isochrone::mpi::comm {

/// Exit codes that every program of Isochrone shares.
enum ExitCode : int { success = 0, failure = 1, usage_error = 2 };

/// A command line after which there is nothing to do: what to print and the exit code.
struct Leave {
    std::string text;
    int exit_code = success;
};

/// Prints it, on rank 0, and returns its exit code.
int leave(MPI_Comm comm, const Leave& leave);

/// A failure that one rank met and that all ranks will be told of, so that they end together. what() is the
/// line to print.
class Failure : public std::runtime_error {
  public:
    Failure(ExitCode code, const std::string& line) : std::runtime_error(line), code_(code) {}
    [[nodiscard]] ExitCode code() const { return code_; }

  private:
    ExitCode code_;
};

/// Runs `body` between MPI_Init and MPI_Finalize and returns its exit code, on which all ranks must have
/// agreed. An exception that leaves `body` is one that the other ranks do not know of: its rank prints one
/// line and aborts them all.
int run_program(const char* name, int argc, char** argv, const std::function<int(MPI_Comm)>& body);

}  // namespace isochrone::mpi::comm
