// SPDX-License-Identifier: BSD-3-Clause
//
// The program's datatypes, and its buffers as contiguous bytes. What all ranks agree on is the number of
// bytes; how a rank's memory holds them is its own affair.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "interpose/self.hpp"

namespace isochrone::mpi::interpose {

/// What there is to know of a type.
struct Type {
    std::int64_t size = 0;    ///< bytes of data in one element, gaps not counted
    std::int64_t extent = 0;  ///< bytes from one element to the next
    std::int64_t begin = 0;   ///< of the first byte, from the element's address
    /// Whether the bytes of one element lie one after the other in the order in which they are packed. Size
    /// and extent alone do not tell: an indexed type may permute its blocks.
    bool dense = false;
};

/// Knows the basic types from the start. What it finds out about another is kept in an attribute of the type,
/// and goes with it. Any thread may ask.
class Types {
  public:
    /// Local. Throws comm::Error.
    explicit Types(Self& self);

    /// The type of `count` elements at `buffer`, as long as it lives; nullptr if the library's own broadcast
    /// would refuse them. Asks the library about nothing that it could fail at.
    [[nodiscard]] const Type* find(void* buffer, std::int64_t count, MPI_Datatype type);

    /// Whether it is one of those that are known from the start.
    [[nodiscard]] bool is_basic(MPI_Datatype type) const { return basic_.contains(type); }

  private:
    Self& self_;
    int key_ = MPI_KEYVAL_INVALID;
    std::unordered_map<MPI_Datatype, Type> basic_;  // never changes: read without the lock
    std::mutex mutex_;                              // of who finds out about a type
};

/// `count` elements of a type at `buffer` as bytes one after the other: the memory itself if it is laid out
/// so, else a copy.
class Packed {
  public:
    /// Throws comm::Error. `fill`: the bytes are wanted as they are now.
    Packed(void* buffer, std::int64_t count, MPI_Datatype type, const Type& about, Self& self, bool fill);

    [[nodiscard]] void* data() { return copy_ ? copy_.get() : direct_; }
    /// Puts what was received where it belongs.
    void unpack();
    /// The copy is never freed: messages that failed may still be on their way to it or from it.
    void abandon() { static_cast<void>(copy_.release()); }

  private:
    template <class Part>
    void in_parts(Part&& part);
    /// Copies by a message to this rank itself.
    void send_to_self(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                      MPI_Datatype to_type);
    [[nodiscard]] bool by_message() const;

    void* buffer_;
    std::int64_t count_;
    MPI_Datatype type_;
    const Type& about_;
    Self& self_;
    void* direct_ = nullptr;
    std::unique_ptr<char[]> copy_;  // not a vector: that would be filled with zeros first
};

}  // namespace isochrone::mpi::interpose
