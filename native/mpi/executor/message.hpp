// SPDX-License-Identifier: BSD-3-Clause
//
// The ranges of a message as one MPI argument: a plain count of bytes where it can be, a datatype where it
// can't.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "schedule/extents.hpp"

namespace isochrone::mpi::executor {

/// Freed at the end of its life; operations that were started with it go on undisturbed (MPI-3.1,
/// section 4.1.9).
class Message {
  public:
    Message(void* base, const std::vector<core::schedule::Range>& ranges, std::int64_t unit_bytes);
    ~Message();
    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;

    [[nodiscard]] void* address() const { return address_; }
    [[nodiscard]] int count() const { return count_; }
    [[nodiscard]] MPI_Datatype type() const { return type_; }

  private:
    void* address_ = nullptr;
    int count_ = 0;
    MPI_Datatype type_ = MPI_BYTE;
};

}  // namespace isochrone::mpi::executor
