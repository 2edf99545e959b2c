// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/passage.hpp"

#include <algorithm>
#include <array>

namespace isochrone::core::algorithms {

using schedule::Builder;
using schedule::Slice;

std::vector<int> Passage::passing(int rank) const {
    std::vector<int> result{rank};
    for (const Child& child : children) result.insert(result.end(), child.below.begin(), child.below.end());
    std::sort(result.begin(), result.end());
    return result;
}

void Passage::gather(Builder& builder, Lengths lengths, Slice own, Slice own_length,
                     const Blocks& target) const {
    const std::array own_rank{builder.rank()};
    const auto through = passing(builder.rank());
    const bool learns = lengths == Lengths::learnt && target.buffer < 0;
    Blocks here = target;
    if (parent >= 0 && children.empty()) {
        if (learns && !parent_knows) builder.send(parent, own_length);
        builder.send(parent, own);
        return;
    }
    if (here.buffer < 0) {
        here = Blocks(builder, through, lengths);
        if (learns) {
            builder.copy(own_length, here.lengths_of(builder, own_rank));
            for (const auto& child : children)
                builder.recv(child.rank, here.lengths_of(builder, child.below));
            if (!parent_knows) builder.send(parent, here.lengths_of(builder, through));
        }
        here.buffer = builder.scratch_counted(here.partition);
    }
    for (const auto& child : children) builder.recv(child.rank, here.of(builder, child.below));
    // In place it is there already.
    if (own.buffer != here.buffer) builder.copy(own, here.of(builder, own_rank));
    if (parent >= 0) builder.send(parent, here.of(builder, through));
}

void Passage::scatter(Builder& builder, Lengths lengths, const Blocks& source, Slice own) const {
    const std::array own_rank{builder.rank()};
    const auto through = passing(builder.rank());
    if (parent >= 0 && children.empty()) {
        builder.recv(parent, own);
        return;
    }
    Blocks here = source;
    if (here.buffer < 0) {
        here = Blocks(builder, through, lengths);
        if (lengths == Lengths::learnt) builder.recv(parent, here.lengths_of(builder, through));
        here.buffer = builder.scratch_counted(here.partition);
        builder.recv(parent, here.of(builder, through));
    }
    for (const auto& child : children) {
        if (lengths == Lengths::learnt && child.below.size() > 1)
            builder.send(child.rank, here.lengths_of(builder, child.below));
        builder.send(child.rank, here.of(builder, child.below));
    }
    if (own.buffer >= 0) builder.copy(here.of(builder, own_rank), own);
}

}  // namespace isochrone::core::algorithms
