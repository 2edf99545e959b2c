// SPDX-License-Identifier: BSD-3-Clause
#include "select/expectation.hpp"

#include <algorithm>
#include <utility>

namespace isochrone::core::select {

Shown::Shown(const std::vector<Tried>& tried) {
    for (const auto& [priced, measured_s] : tried) {
        if (measured_s <= 0) continue;
        const double missing_s = measured_s - priced.seconds;
        // Means and sums beside them, as they grow (Welford).
        count_ += 1;
        const double beside = priced.segments - segments_;
        segments_ += beside / count_;
        missing_s_ += (missing_s - missing_s_) / count_;
        squares_ += beside * (priced.segments - segments_);
        together_s_ += beside * (missing_s - missing_s_);
        most_segments_ = std::max(most_segments_, priced.segments);
    }
}

Shown& Shown::operator+=(const Shown& other) {
    if (!other.has_slope()) return *this;
    count_ += other.count_;
    squares_ += other.squares_;
    together_s_ += other.together_s_;
    most_segments_ = std::max(most_segments_, other.most_segments_);
    return *this;
}

double Shown::each_s() const { return has_slope() ? std::max(0.0, together_s_ / squares_) : 0; }

Expectation::Expectation(std::vector<Tried> tried, const Shown& elsewhere)
    : tried_(std::move(tried)), shown_(tried_), most_segments_(shown_.most_segments()) {
    if (shown_.is_nothing()) {
        each_s_ = elsewhere.each_s();
        most_segments_ = elsewhere.most_segments();
        return;
    }
    if (shown_.missing_s() <= 0) return;
    const double most_s = shown_.missing_s() / shown_.segments();
    each_s_ = most_s;
    if (shown_.has_slope()) {
        each_s_ = std::min(most_s, shown_.each_s());
    } else if (elsewhere.has_slope() && elsewhere.most_segments() >= most_segments_) {
        each_s_ = std::min(most_s, elsewhere.each_s());
        most_segments_ = elsewhere.most_segments();
    }
    all_s_ = shown_.missing_s() - each_s_ * shown_.segments();
}

double Expectation::of(const Priced& one) const {
    return one.seconds + all_s_ + each_s_ * std::min(one.segments, most_segments_);
}

}  // namespace isochrone::core::select
