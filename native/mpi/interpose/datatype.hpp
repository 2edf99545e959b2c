// SPDX-License-Identifier: BSD-3-Clause
//
// The program's buffers as contiguous bytes. What all ranks agree on is the number of bytes; how a rank's
// memory holds them is its own affair.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace isochrone::mpi::interpose {

/// Bytes of data in `count` elements of the type, gaps not counted.
[[nodiscard]] std::int64_t data_bytes(int count, MPI_Datatype type);

/// `count` elements of a type at `buffer`, as bytes one after the other: the memory itself if it is laid out
/// so, else a copy.
class Packed {
  public:
    /// Throws comm::Error. `fill`: the bytes are wanted as they are now.
    Packed(void* buffer, int count, MPI_Datatype type, MPI_Comm comm, bool fill);

    [[nodiscard]] void* data() { return copy_.empty() ? direct_ : copy_.data(); }
    /// Puts what was received where it belongs.
    void unpack();

  private:
    void* buffer_;
    int count_;
    MPI_Datatype type_;
    MPI_Comm comm_;
    void* direct_ = nullptr;
    std::vector<char> copy_;
};

}  // namespace isochrone::mpi::interpose
