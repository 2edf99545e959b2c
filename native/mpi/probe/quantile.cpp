// SPDX-License-Identifier: BSD-3-Clause
#include "probe/quantile.hpp"

#include <algorithm>
#include <cstddef>

namespace isochrone::mpi::probe {

double quantile(const std::vector<double>& ascending, double share) {
    const double position = share * static_cast<double>(ascending.size() - 1);
    const auto low = static_cast<std::size_t>(position);
    const std::size_t high = std::min(low + 1, ascending.size() - 1);
    return ascending[low] + (position - static_cast<double>(low)) * (ascending[high] - ascending[low]);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return quantile(values, 0.5);
}

}  // namespace isochrone::mpi::probe
