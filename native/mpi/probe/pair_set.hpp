// SPDX-License-Identifier: BSD-3-Clause
//
// A set of unordered pairs of ranks: one bit for each pair there is.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace isochrone::mpi::probe {

class PairSet {
  public:
    explicit PairSet(int ranks)
        : ranks_(static_cast<std::uint64_t>(ranks)), bytes_(static_cast<std::size_t>((possible() + 7) / 8)) {}

    [[nodiscard]] int ranks() const { return static_cast<int>(ranks_); }

    /// How many pairs there are, in the set or not.
    [[nodiscard]] std::uint64_t possible() const { return ranks_ * (ranks_ > 0 ? ranks_ - 1 : 0) / 2; }
    [[nodiscard]] std::uint64_t size() const {
        std::uint64_t count = 0;
        for (const std::uint8_t byte : bytes_) count += static_cast<std::uint64_t>(std::popcount(byte));
        return count;
    }

    [[nodiscard]] bool contains(int a, int b) const {
        const std::uint64_t bit = position(a, b);
        return (bytes_[bit / 8] >> (bit % 8) & 1U) != 0;
    }

    /// True if the pair was not in the set before.
    bool insert(int a, int b) {
        if (contains(a, b)) return false;
        const std::uint64_t bit = position(a, b);
        bytes_[bit / 8] = static_cast<std::uint8_t>(bytes_[bit / 8] | 1U << (bit % 8));
        return true;
    }

    /// The bits, to send to other ranks.
    [[nodiscard]] std::vector<std::uint8_t>& bytes() { return bytes_; }

  private:
    [[nodiscard]] std::uint64_t position(int a, int b) const {
        if (a > b) std::swap(a, b);
        const auto row = static_cast<std::uint64_t>(a);
        return row * (2 * ranks_ - row - 1) / 2 + static_cast<std::uint64_t>(b - a - 1);
    }

    std::uint64_t ranks_;
    std::vector<std::uint8_t> bytes_;
};

}  // namespace isochrone::mpi::probe
