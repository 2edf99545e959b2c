// SPDX-License-Identifier: BSD-3-Clause
//
// Calls whose ranks have blocks, such as gathers: where the blocks lie on this rank, and their bytes one
// after the other.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "collectives/collective.hpp"
#include "executor/dispatcher.hpp"
#include "interpose/call.hpp"
#include "interpose/datatype.hpp"

namespace isochrone::mpi::interpose {

/// The elements of one block.
struct Elements {
    std::int64_t place = 0;  ///< bytes from the buffer to the first
    std::int64_t count = 0;
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    const Type* type = nullptr;  ///< not looked at where there are none

    [[nodiscard]] std::int64_t bytes() const { return count == 0 ? 0 : count * type->size; }
    /// Whether their bytes lie one after the other, as they are packed.
    [[nodiscard]] bool is_dense() const {
        return count == 0 || (type->dense && (count == 1 || type->extent == type->size));
    }
};

/// One side of a call on this rank: what it sends, or what it is to have. Counts are in elements.
struct Side {
    bool is_used = false;
    void* buffer = nullptr;
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    const Type* type = nullptr;
    int blocks = 0;
    std::int64_t count = 0;                   ///< of every block, where they are alike
    std::vector<std::int64_t> counts;         ///< else of each,
    std::vector<std::int64_t> displacements;  ///< and how many extents from the buffer it is
    std::vector<Elements> mixed;              ///< instead of all these, where each has a datatype of its own

    [[nodiscard]] Elements elements(int block) const;
    /// Bytes of a block.
    [[nodiscard]] std::int64_t block_bytes(int block) const { return elements(block).bytes(); }
    /// Bytes of all.
    [[nodiscard]] std::int64_t bytes() const;
    /// Whether the bytes of each block lie one after the other.
    [[nodiscard]] bool is_dense() const;
    /// Where the bytes of a dense side begin, from the buffer.
    [[nodiscard]] std::int64_t begin() const;
    /// Where those of each block begin, from there; empty where blocks follow one another.
    [[nodiscard]] std::vector<std::int64_t> starts() const;
};

/// What a call asks for.
struct BlocksCall {
    Side input;
    Side output;
    bool in_place = false;  ///< the input is where the output will be, or the other way round

    /// Nothing if the library's own would refuse it. `rank` of `size`.
    static std::optional<BlocksCall> read(const Call& call, int rank, int size, Types& types);

    /// Whether a reduction can work on the program's memory as it is.
    [[nodiscard]] bool is_dense() const;

    /// What all ranks know alike: bytes of a block; of the mean one; 0 where they know nothing.
    [[nodiscard]] std::int64_t agreed_bytes(const core::collectives::Collective& collective) const;
};

/// Collective. Runs a decision that is not the library's own. `root`: 0 where the collective has none. Throws
/// comm::Error.
void run_blocks(executor::Dispatcher& dispatcher, const executor::Dispatcher::Decision& decision,
                const Call& call, const BlocksCall& blocks, int rank, Self& self);

/// The blocks of one side as bytes: the memory itself if it is laid out so, else a copy.
class PackedSide {
  public:
    /// Which blocks are wanted as they are now.
    enum class Fill : unsigned char { none, own, all };

    /// `contiguous`: blocks have to follow one another. `copy`: nothing may see the memory itself. Throws
    /// comm::Error.
    PackedSide(const Side& side, Self& self, int rank, Fill fill, bool contiguous, bool copy = false);

    [[nodiscard]] void* data();
    /// In bytes, where blocks do not follow one another.
    [[nodiscard]] std::vector<std::int64_t> displacements() const;
    /// Puts what was received where it belongs.
    void unpack();
    /// Copies are never freed: messages that failed may still be on their way to them or from them.
    void abandon();

  private:
    template <class Act>
    void each_block(Act&& act);

    const Side& side_;
    Self& self_;
    std::optional<Packed> whole_;  // where all blocks are alike
    std::unique_ptr<char[]> copy_;
};

}  // namespace isochrone::mpi::interpose
