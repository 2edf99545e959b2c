// SPDX-License-Identifier: BSD-3-Clause
//
// The ranks among which an algorithm works.
#pragma once

#include <vector>

namespace isochrone::core::algorithms {

/// Members are numbered by their position in `ranks`; algorithms count from the root: relative = position -
/// root (mod size).
struct Group {
    std::vector<int> ranks;  ///< ranks in the communicator
    int root = 0;            ///< position of the root
    int me = 0;              ///< position of this rank

    [[nodiscard]] int size() const { return static_cast<int>(ranks.size()); }
    [[nodiscard]] int relative() const { return (me - root + size()) % size(); }
    /// Rank in the communicator of the member that is `relative` places after the root.
    [[nodiscard]] int rank_at(int relative) const {
        return ranks[static_cast<std::size_t>((root + relative) % size())];
    }
};

}  // namespace isochrone::core::algorithms
