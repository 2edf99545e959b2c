// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/peers.hpp"

namespace isochrone::core::patterns {

int grid_rows(int size) {
    int rows = 1;
    for (int divisor = 1; divisor * divisor <= size; ++divisor) {
        if (size % divisor == 0) rows = divisor;
    }
    return rows;
}

Peers grid(int rank, int size, int /*root*/) {
    const int rows = grid_rows(size);
    const int columns = size / rows;
    const int row = rank / columns;
    const int column = rank % columns;
    Peers peers;
    // What goes one way comes from the other side, where it is the same message of those that are sent.
    const auto ring = [&](int extent, auto&& at) {
        if (extent == 1) return;
        for (const int step : {extent - 1, 1}) {
            peers.from.push_back({.rank = at(extent - step), .slot = static_cast<int>(peers.to.size())});
            peers.to.push_back(at(step));
        }
    };
    ring(columns, [&](int step) { return row * columns + (column + step) % columns; });
    ring(rows, [&](int step) { return (row + step) % rows * columns + column; });
    return peers;
}

}  // namespace isochrone::core::patterns
