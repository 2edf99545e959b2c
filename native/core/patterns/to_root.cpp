// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/peers.hpp"

namespace isochrone::core::patterns {

Peers to_root(int rank, int size, int root) {
    if (rank != root) return {.to = {root}};
    Peers peers;
    for (int other = 0; other < size; ++other) {
        if (other != root) peers.from.push_back({.rank = other});
    }
    return peers;
}

}  // namespace isochrone::core::patterns
