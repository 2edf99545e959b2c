// SPDX-License-Identifier: BSD-3-Clause
#include "probe/precision.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "probe/quantile.hpp"

namespace isochrone::mpi::probe {

namespace {

constexpr double outside = 0.025;  // on each side

}  // namespace

std::size_t interval_rank(std::size_t count) {
    const auto n = static_cast<double>(count);
    // In logarithms: of many values the first probabilities are too small for a double.
    double log_probability = -n * std::log(2.0);
    double below = 0;
    for (std::size_t k = 0; 2 * k < count; ++k) {
        below += std::exp(log_probability);
        if (below > outside) return k;
        log_probability += std::log((n - static_cast<double>(k)) / static_cast<double>(k + 1));
    }
    return count / 2;
}

double interval_width(std::vector<double> values) {
    const std::size_t rank = interval_rank(values.size());
    if (rank == 0) return std::numeric_limits<double>::infinity();
    std::sort(values.begin(), values.end());
    const double middle = quantile(values, 0.5);
    const double width = values[values.size() - rank] - values[rank - 1];
    if (width <= 0) return 0;
    return middle > 0 ? width / middle : std::numeric_limits<double>::infinity();
}

bool known_to(double share, const std::vector<double>& values) {
    return values.size() >= least_values && interval_width(values) <= share;
}

std::size_t next_look(std::size_t count, std::size_t most) {
    if (count < least_values) return std::min(least_values, most);
    return std::min(count + std::max<std::size_t>(3, count / 3), most);
}

}  // namespace isochrone::mpi::probe
