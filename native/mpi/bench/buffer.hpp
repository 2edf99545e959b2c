// SPDX-License-Identifier: BSD-3-Clause
//
// The memory that collectives work on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace isochrone::mpi::bench {

/// Several messages' worth of memory, used in turn, so that no call finds its data in the cache of the one
/// before. Under SimGrid, where caches are not modelled and thousands of ranks share one machine's
/// memory, all ranks have one piece.
class Buffer {
  public:
    /// `largest_bytes`: of one call; 0: none is needed.
    explicit Buffer(std::int64_t largest_bytes);
    ~Buffer();
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    /// Memory for the next call.
    [[nodiscard]] std::byte* next(std::int64_t bytes);

    /// Whether what ranks have can be told apart: not where all share the memory.
    [[nodiscard]] static bool holds_contents();
    /// Fills memory with a pattern, or with what it has from byte `first` on.
    static void fill(std::byte* data, std::int64_t bytes, unsigned pattern, std::int64_t first = 0);

  private:
    std::int64_t size_;
    std::int64_t position_ = 0;
    std::vector<std::byte> own_;
    std::byte* data_ = nullptr;
};

}  // namespace isochrone::mpi::bench
