// SPDX-License-Identifier: BSD-3-Clause
//
// An exchange between all ranks along the tree. What stays inside a group goes directly between the leaders
// of its parts (between ranks, at the innermost level); what leaves it is collected by the group's leader,
// and exchanged between leaders further out. So one message crosses between two groups instead of one a pair.
// After Sinha, "Optimizing MPICH collective calls using topology info", section 2.4, carried through to any
// depth and to blocks of any length.
#pragma once

#include <vector>

#include "algorithms/algorithm.hpp"
#include "compose/tiers.hpp"

namespace isochrone::core::compose {

/// An algorithm among the leaders of one tier.
struct Exchanged {
    algorithms::Group group;
    algorithms::Append append = nullptr;
    int parameter = 0;
};

/// Appends what the builder's rank does. `tiers`: outermost first. Leaders learn from their members how long
/// blocks are, where these are not equal.
void exchange(schedule::Builder& builder, const std::vector<Exchanged>& tiers, bool equal, bool in_place);

}  // namespace isochrone::core::compose
