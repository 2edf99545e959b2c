// SPDX-License-Identifier: BSD-3-Clause
#include "probe/saturation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "probe/quantile.hpp"

namespace isochrone::mpi::probe {

namespace {

constexpr double same = 0.01;
constexpr double certain = 0.05;
constexpr std::ptrdiff_t recent = 3;  // lengths; few bursts of one length may agree by chance

}  // namespace

void Saturation::add(std::int64_t count, const std::vector<double>& times_s) {
    const double least_s = *std::min_element(times_s.begin(), times_s.end());
    scatters_s_.push_back(median(times_s) - least_s);
    if (count_ == 0) {
        slope_s_ = least_s / static_cast<double>(count);
        gap_s_ = slope_s_;
    } else {
        const auto more = static_cast<double>(count - count_);
        const double slope_s = (least_s - least_s_) / more;
        const auto last = scatters_s_.end();
        const auto first = last - std::min<std::ptrdiff_t>(recent, last - scatters_s_.begin());
        const double uncertain_s = 2 * *std::max_element(first, last) / more;
        const double change_s = std::abs(slope_s - slope_s_);
        reached_ = uncertain_s <= certain * std::abs(slope_s) &&
                   change_s <= std::max(same * std::abs(slope_s_), uncertain_s + uncertain_s_);
        if (reached_ || uncertain_s + change_s <= off_s_) {
            gap_s_ = slope_s;
            off_s_ = uncertain_s + change_s;
        }
        slope_s_ = slope_s;
        uncertain_s_ = uncertain_s;
    }
    count_ = count;
    least_s_ = least_s;
}

}  // namespace isochrone::mpi::probe
