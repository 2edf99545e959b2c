// SPDX-License-Identifier: BSD-3-Clause
//
// Reduce-scatter by recursive halving, the first half of Rabenseifner's algorithms.
#pragma once

#include "algorithms/reduce/fold.hpp"

namespace isochrone::core::algorithms::reduce {

/// The message is cut into as many blocks as there are numbers in the fold, a power of two. Afterwards member
/// number n of the fold has block n of what all of them had, combined. Only for members that go on.
void halving(schedule::Builder& builder, const Group& group, const Fold& fold, Data& data);

}  // namespace isochrone::core::algorithms::reduce
