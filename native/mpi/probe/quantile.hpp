// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

namespace isochrone::mpi::probe {

/// Of values in ascending order, of which there is one at least; on a straight line between two where the
/// share falls between them.
[[nodiscard]] double quantile(const std::vector<double>& ascending, double share);

/// Of values in any order, of which there is one at least.
[[nodiscard]] double median(std::vector<double> values);

}  // namespace isochrone::mpi::probe
