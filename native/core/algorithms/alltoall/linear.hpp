// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "algorithms/algorithm.hpp"

namespace isochrone::core::algorithms::alltoall {

/// `window`: so many rounds are under way at once.
void linear(schedule::Builder& builder, const Group& group, Data& data, int window);
/// One round at a time.
void pairwise(schedule::Builder& builder, const Group& group, Data& data, int parameter);

}  // namespace isochrone::core::algorithms::alltoall
