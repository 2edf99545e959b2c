// SPDX-License-Identifier: BSD-3-Clause
//
// Random numbers that are the same with every compiler and library: splitmix64 (Steele et al. 2014).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace isochrone::core::mapping {

class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }

    /// Below `most`, which is at least 1. The remainder's bias is far below what a search could feel.
    std::size_t below(std::size_t most) { return static_cast<std::size_t>(next() % most); }

    template <typename T>
    void shuffle(std::vector<T>& values) {
        for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
    }

  private:
    std::uint64_t state_;
};

}  // namespace isochrone::core::mapping
