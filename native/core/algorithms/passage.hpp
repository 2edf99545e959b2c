// SPDX-License-Identifier: BSD-3-Clause
//
// What passes through one rank on the way of blocks to a root, or from it. A tree of each level is one part
// of the way; when all parts are known, the rank's messages follow, each with all that passes: nothing is
// copied from level to level.
#pragma once

#include <vector>

#include "algorithms/blocks.hpp"

namespace isochrone::core::algorithms {

/// Kielmann et al., MagPIe, PPoPP 1999, section 4, for any trees.
struct Passage {
    struct Child {
        int rank = 0;
        std::vector<int> below;  ///< the ranks whose blocks pass over it, ascending
    };
    std::vector<Child> children;
    int parent = -1;
    bool parent_knows = true;  ///< the parent knows all lengths: it is the root

    /// Appends the way to the root. `own`: this rank's block, where it is, and `own_length` its entry in a
    /// table. `target`: where the blocks are to be, if this rank is to have them; without a buffer they only
    /// pass. Where lengths are learnt, each rank first hears from its children how much will pass through it.
    void gather(schedule::Builder& builder, Lengths lengths, schedule::Slice own, schedule::Slice own_length,
                const Blocks& target) const;

    /// Appends the way from the root. `source`: where the root has the blocks; without a buffer this rank is
    /// not the root. `own`: where this rank's block is to be; without a buffer it is not wanted. Where
    /// lengths are learnt, each rank that passes blocks on first hears from its parent how long they are.
    void scatter(schedule::Builder& builder, Lengths lengths, const Blocks& source,
                 schedule::Slice own) const;

  private:
    /// All ranks whose blocks pass here, this one's included, ascending.
    [[nodiscard]] std::vector<int> passing(int rank) const;
};

}  // namespace isochrone::core::algorithms
