// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/rendezvous.hpp"

#include <algorithm>

namespace isochrone::core::plogp {

Rendezvous::Rendezvous(const Parameters& links) : gap_s_(links.gap_s), round_trip_s_(2 * links.latency_s) {
    const auto& points = gap_s_.points;
    if (points.size() < 3) return;  // nothing to compare with
    const auto& [first_bytes, first_s] = points.front();
    const auto& [before_bytes, before_s] = *(points.end() - 2);
    const auto& [last_bytes, last_s] = points.back();
    const double s_per_byte =
        std::max(0.0, (last_s - before_s) / static_cast<double>(last_bytes - before_bytes));
    for (const auto& [bytes, gap_s] : points) {
        const double longer_s = gap_s - first_s - s_per_byte * static_cast<double>(bytes - first_bytes);
        const bool asks = longer_s > 0 && longer_s >= links.latency_s;
        asking_s_.points.emplace_back(bytes, asks ? std::min(longer_s, round_trip_s_) : 0.0);
    }
}

double Rendezvous::asking_s(std::int64_t size_bytes) const {
    return std::min({asking_s_.at(size_bytes), round_trip_s_, gap_s_.at(size_bytes)});
}

double Rendezvous::busy_s(std::int64_t size_bytes) const {
    return gap_s_.at(size_bytes) - asking_s(size_bytes);
}

}  // namespace isochrone::core::plogp
