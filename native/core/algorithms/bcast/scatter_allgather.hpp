// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "algorithms/algorithm.hpp"

namespace isochrone::core::algorithms::bcast {

/// Scatter along a binomial tree, then allgather around a ring (van de Geijn). Thakur et al. 2005,
/// section 4.4.
void scatter_allgather(schedule::Builder& builder, const Group& group, Data& all, int parameter);

}  // namespace isochrone::core::algorithms::bcast
