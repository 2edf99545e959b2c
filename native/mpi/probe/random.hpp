// SPDX-License-Identifier: BSD-3-Clause
//
// Chance that is the same with every standard library, since ranks and resumed runs must agree on one order.
#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace isochrone::mpi::probe {

/// std::shuffle may give another order in another standard library.
template <typename T>
void shuffle(std::vector<T>& values, std::mt19937_64& random) {
    for (std::size_t left = values.size(); left > 1; --left) {
        std::swap(values[left - 1], values[random() % left]);
    }
}

/// The finaliser of SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number
/// generators", 2014).
inline std::uint64_t mix(std::uint64_t bits) {
    bits += 0x9e3779b97f4a7c15ULL;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
    return bits ^ (bits >> 31);
}

/// Of a pair of ranks.
inline bool coin(std::uint64_t seed, int low, int high) {
    const std::uint64_t pair = static_cast<std::uint64_t>(low) << 32 | static_cast<std::uint64_t>(high);
    return (mix(seed ^ mix(pair)) & 1) != 0;
}

}  // namespace isochrone::mpi::probe
