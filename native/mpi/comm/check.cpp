// SPDX-License-Identifier: BSD-3-Clause
#include "comm/check.hpp"

#include <array>
#include <string>

namespace isochrone::mpi::comm {

namespace {

std::string describe(const char* call, int code) {
    std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
    int length = 0;
    if (PMPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) {
        return std::string(call) + " failed with MPI error " + std::to_string(code);
    }
    std::string line(text.data());
    for (char& c : line) {
        if (c == '\n' || c == '\r') c = ' ';
    }
    return std::string(call) + " failed: " + line;
}

}  // namespace

Error::Error(const char* call, int code) : std::runtime_error(describe(call, code)), code_(code) {}

void return_errors(MPI_Comm comm) {
    check(PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

int rank_in(MPI_Comm comm) {
    int rank = 0;
    check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    return rank;
}

int size_of(MPI_Comm comm) {
    int size = 0;
    check(PMPI_Comm_size(comm, &size), "MPI_Comm_size");
    return size;
}

}  // namespace isochrone::mpi::comm
