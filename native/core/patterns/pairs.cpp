// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/peers.hpp"

namespace isochrone::core::patterns {

Peers one_way(int rank, int /*size*/, int /*root*/) {
    if (rank == 0) return {.to = {1}};
    if (rank == 1) return {.from = {{.rank = 0}}};
    return {};
}

Peers both_ways(int rank, int /*size*/, int /*root*/) {
    if (rank > 1) return {};
    return {.to = {1 - rank}, .from = {{.rank = 1 - rank}}};
}

Peers halves(int rank, int size, int /*root*/) {
    const int half = size / 2;
    if (rank < half) return {.to = {rank + half}};
    if (rank < 2 * half) return {.from = {{.rank = rank - half}}};
    return {};
}

}  // namespace isochrone::core::patterns
