// SPDX-License-Identifier: BSD-3-Clause
#include "bench/buffer.hpp"

#ifdef ISOCHRONE_SMPI
#include <mpi.h>
#include <smpi/smpi.h>
#endif

#include <algorithm>

namespace isochrone::mpi::bench {
namespace {

constexpr std::int64_t alignment = 4096;

/// Enough for the data of one call to be out of a core's own caches when its memory comes around again.
constexpr std::int64_t pool_bytes = 16 << 20;

}  // namespace

Buffer::Buffer(std::int64_t largest_bytes) : size_(std::max<std::int64_t>(largest_bytes, 1)) {
#ifdef ISOCHRONE_SMPI
    data_ = static_cast<std::byte*>(SMPI_SHARED_MALLOC(static_cast<std::size_t>(size_)));
#else
    if (largest_bytes > 0) size_ = std::max(size_ + alignment, pool_bytes);
    own_.resize(static_cast<std::size_t>(size_));
    data_ = own_.data();
#endif
}

Buffer::~Buffer() {
#ifdef ISOCHRONE_SMPI
    SMPI_SHARED_FREE(data_);
#endif
}

std::byte* Buffer::next(std::int64_t bytes) {
    if (!holds_contents()) return data_;
    if (position_ + bytes > size_) position_ = 0;
    std::byte* result = data_ + position_;
    position_ += (bytes + alignment - 1) / alignment * alignment;
    return result;
}

bool Buffer::holds_contents() {
#ifdef ISOCHRONE_SMPI
    return false;
#else
    return true;
#endif
}

void Buffer::fill(std::byte* data, std::int64_t bytes, unsigned pattern, std::int64_t first) {
    for (std::int64_t i = 0; i < bytes; ++i) {
        data[i] =
            static_cast<std::byte>((static_cast<std::uint64_t>(first + i) * 2654435761U + pattern) >> 7U);
    }
}

}  // namespace isochrone::mpi::bench
