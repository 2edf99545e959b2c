// SPDX-License-Identifier: BSD-3-Clause
//
// The ranks that run the tests, and bytes for them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace isochrone::tests {

inline int world_size() {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}
inline int world_rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}
template <class T>
std::size_t at(T index) {
    return static_cast<std::size_t>(index);
}

/// So many bytes, the same on all ranks that give one seed.
inline std::vector<unsigned char> pattern(std::int64_t bytes, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<unsigned char> data(at(bytes));
    for (auto& byte : data) byte = static_cast<unsigned char>(random());
    return data;
}

}  // namespace isochrone::tests
