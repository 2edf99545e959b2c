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

double work_s(const Parameters& links, const Curve& overhead_s, std::int64_t size_bytes) {
    double least_s = std::min(overhead_s.at(size_bytes), overhead_s.at(0) + links.gap_s.at(size_bytes));
    for (const auto& [bytes, its_overhead_s] : overhead_s.points) {
        if (bytes <= 0 || bytes > size_bytes) continue;
        const double pieces = static_cast<double>(size_bytes) / static_cast<double>(bytes);
        least_s = std::min(least_s, pieces * its_overhead_s);
    }
    return least_s;
}

Parameters of_round_trip(Parameters told) {
    const double receive_s = std::min(told.receive_overhead_s.at(0), told.latency_s);
    told.latency_s -= receive_s;
    told.receive_overhead_s = {{{0, receive_s}}};
    return told;
}

}  // namespace isochrone::core::plogp
