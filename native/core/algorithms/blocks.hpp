// SPDX-License-Identifier: BSD-3-Clause
//
// Blocks of ranks: what gathers, scatters and exchanges move. A block has the length that its rank says, or
// all have the same.
#pragma once

#include <span>
#include <vector>

#include "schedule/builder.hpp"

namespace isochrone::core::algorithms {

/// Where the lengths of blocks come from.
enum class Lengths : unsigned char {
    equal,   ///< all alike: the caller's count number 0
    given,   ///< the caller's counts, one for each rank
    learnt,  ///< received from another rank
};

/// One block of each of some ranks, in one buffer in this order.
struct Blocks {
    int buffer = -1;
    int table = -1;  ///< counts buffer with the lengths
    int partition = -1;
    std::vector<int> ranks;  ///< ascending

    /// Makes the table and the partition. `first`: number of the caller's count of rank 0, where lengths are
    /// given.
    Blocks(schedule::Builder& builder, std::vector<int> ranks, Lengths lengths, int first = 0);
    Blocks() = default;

    /// The blocks of some of the ranks, in the order in which they are named.
    [[nodiscard]] schedule::Slice of(schedule::Builder& builder, std::span<const int> some) const {
        return in(buffer, builder, some);
    }
    /// ... in another buffer that is divided alike.
    [[nodiscard]] schedule::Slice in(int other_buffer, schedule::Builder& builder,
                                     std::span<const int> some) const;
    [[nodiscard]] schedule::Slice all(schedule::Builder& builder) const;
    /// Their lengths, as entries of the table.
    [[nodiscard]] schedule::Slice lengths_of(schedule::Builder& builder, std::span<const int> some) const;

  private:
    [[nodiscard]] std::vector<int> positions(std::span<const int> some) const;
};

/// The blocks (source, destination) that leave a part, or that enter it, by source, then destination:
///
///   leaving  part {2,3} of 4 ranks:   2>0 2>1 3>0 3>1
///   entering part {2,3} of 4 ranks:   0>2 0>3 1>2 1>3
///
/// Blocks travel in this order everywhere, so both ends of a message agree whatever else each of them holds.
class Pairs {
  public:
    Pairs() = default;
    Pairs(std::vector<int> sources, std::vector<int> destinations)
        : sources_(std::move(sources)), destinations_(std::move(destinations)) {}

    [[nodiscard]] int count() const { return static_cast<int>(sources_.size() * destinations_.size()); }

    /// The blocks from any of `sources` to any of `destinations` (both ascending), as far as they are held
    /// here.
    [[nodiscard]] schedule::Slice of(schedule::Builder& builder, std::span<const int> sources,
                                     std::span<const int> destinations) const;
    [[nodiscard]] schedule::Slice lengths_of(schedule::Builder& builder, std::span<const int> sources,
                                             std::span<const int> destinations) const;

    int table = -1;
    int partition = -1;
    int buffer = -1;

  private:
    [[nodiscard]] std::vector<int> select(std::span<const int> sources,
                                          std::span<const int> destinations) const;
    std::vector<int> sources_;
    std::vector<int> destinations_;
};

}  // namespace isochrone::core::algorithms
