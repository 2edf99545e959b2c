// SPDX-License-Identifier: BSD-3-Clause
#include "select/expectation.hpp"

#include <algorithm>
#include <utility>

namespace isochrone::core::select {
namespace {

/// Of what was measured of one kind: segments, and what was missing in the prices.
struct Moments {
    double count = 0;
    double segments = 0;   // mean
    double missing_s = 0;  // mean
    double together_s = 0;
    double squares = 0;
    double most_segments = 0;
};

/// Means and sums of products beside them, as they grow (Welford, Technometrics 4, 1962).
Moments moments_of(const std::vector<Tried>& tried) {
    Moments found;
    for (const auto& [priced, measured_s] : tried) {
        if (measured_s <= 0) continue;
        found.count += 1;
        const double beside = priced.segments - found.segments;
        found.segments += beside / found.count;
        found.missing_s += (measured_s - priced.seconds - found.missing_s) / found.count;
        found.together_s += beside * (measured_s - priced.seconds - found.missing_s);
        found.squares += beside * (priced.segments - found.segments);
        found.most_segments = std::max(found.most_segments, priced.segments);
    }
    return found;
}

}  // namespace

void SegmentCost::add(const std::vector<Tried>& tried) {
    const Moments found = moments_of(tried);
    if (found.squares <= 0) return;
    together_s_ += found.together_s;
    squares_ += found.squares;
    most_segments_ = std::max(most_segments_, found.most_segments);
}

double SegmentCost::each_s() const { return is_known() ? std::max(0.0, together_s_ / squares_) : 0; }

Expectation::Expectation(std::vector<Tried> tried, const SegmentCost& elsewhere) : tried_(std::move(tried)) {
    const Moments own = moments_of(tried_);
    if (own.count == 0) return;
    is_measured_ = true;
    most_segments_ = own.most_segments;
    // The best fit with w = 0 has this c: the sum of k t over that of k k.
    const double each_alone_s = std::max(0.0, (own.together_s + own.count * own.segments * own.missing_s) /
                                                  (own.squares + own.count * own.segments * own.segments));
    if (own.squares > 0) {
        each_s_ = std::max(0.0, own.together_s / own.squares);
    } else if (elsewhere.most_segments() >= most_segments_) {
        each_s_ = elsewhere.each_s();
        most_segments_ = elsewhere.most_segments();
    } else {
        each_s_ = each_alone_s;
    }
    all_s_ = own.missing_s - each_s_ * own.segments;
    if (all_s_ >= 0) return;
    all_s_ = 0;
    each_s_ = std::min(each_s_, each_alone_s);
}

double Expectation::of(const Priced& one) const {
    return one.seconds + all_s_ + each_s_ * std::min(one.segments, most_segments_);
}

}  // namespace isochrone::core::select
