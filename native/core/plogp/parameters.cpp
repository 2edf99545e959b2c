// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/parameters.hpp"

#include <algorithm>

namespace isochrone::core::plogp {

double Curve::at(std::int64_t size_bytes) const {
    if (points.empty()) return 0;
    if (points.size() == 1 || size_bytes <= points.front().first) return points.front().second;
    auto right = std::upper_bound(points.begin(), points.end(), size_bytes,
                                  [](std::int64_t size, const auto& point) { return size < point.first; });
    if (right == points.end()) --right;
    const auto left = right - 1;
    const double slope = (right->second - left->second) / static_cast<double>(right->first - left->first);
    return std::max(0.0, left->second + slope * static_cast<double>(size_bytes - left->first));
}

Parameters of_round_trip(Parameters told) {
    const double receive_s = std::min(told.receive_overhead_s.at(0), told.latency_s);
    told.latency_s -= receive_s;
    told.receive_overhead_s = {{{0, receive_s}}};
    return told;
}

}  // namespace isochrone::core::plogp
