// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "algorithms/algorithm.hpp"

namespace isochrone::core::algorithms::bcast {

/// Scatter along a binomial tree, then allgather by recursive doubling. Thakur et al. 2005, section 4.4.
void scatter_rd_allgather(schedule::Builder& builder, const Group& group, Data& data, int parameter);

}  // namespace isochrone::core::algorithms::bcast
