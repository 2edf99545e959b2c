// SPDX-License-Identifier: BSD-3-Clause
#include "select/expectation.hpp"

#include <algorithm>
#include <utility>

namespace isochrone::core::select {
namespace {

/// Of what was measured of one kind: messages, and what was missing in the prices.
struct Moments {
    double count = 0;
    double messages = 0;    // mean
    double missing_s = 0;   // mean
    double measured_s = 0;  // mean
    double together_s = 0;
    double squares = 0;
    double most_messages = 0;
};

/// Means and sums of products beside them, as they grow (Welford, Technometrics 4, 1962).
Moments moments_of(const std::vector<Tried>& tried) {
    Moments found;
    for (const auto& [priced, measured_s] : tried) {
        if (measured_s <= 0) continue;
        found.count += 1;
        found.measured_s += (measured_s - found.measured_s) / found.count;
        const double beside = priced.messages - found.messages;
        found.messages += beside / found.count;
        found.missing_s += (measured_s - priced.seconds - found.missing_s) / found.count;
        found.together_s += beside * (measured_s - priced.seconds - found.missing_s);
        found.squares += beside * (priced.messages - found.messages);
        found.most_messages = std::max(found.most_messages, priced.messages);
    }
    return found;
}

}  // namespace

void MessageCost::add(const std::vector<Tried>& tried) {
    const Moments found = moments_of(tried);
    if (found.squares <= 0) return;
    const double weight = 1 / (found.measured_s * found.measured_s);
    together_s_ += weight * found.together_s;
    squares_ += weight * found.squares;
    most_messages_ = std::max(most_messages_, found.most_messages);
}

double MessageCost::each_s() const { return is_known() ? std::max(0.0, together_s_ / squares_) : 0; }

Expectation::Expectation(std::vector<Tried> tried, const MessageCost& elsewhere) : tried_(std::move(tried)) {
    const Moments own = moments_of(tried_);
    if (own.count == 0) return;
    is_measured_ = true;
    most_messages_ = own.most_messages;
    // The best fit with w = 0 has this c: the sum of k t over that of k k.
    const double each_alone_s = std::max(0.0, (own.together_s + own.count * own.messages * own.missing_s) /
                                                  (own.squares + own.count * own.messages * own.messages));
    if (own.squares > 0) {
        each_s_ = std::max(0.0, own.together_s / own.squares);
    } else if (elsewhere.most_messages() >= most_messages_) {
        each_s_ = elsewhere.each_s();
        most_messages_ = elsewhere.most_messages();
    } else {
        each_s_ = each_alone_s;
    }
    all_s_ = own.missing_s - each_s_ * own.messages;
    if (all_s_ >= 0) return;
    all_s_ = 0;
    each_s_ = std::min(each_s_, each_alone_s);
}

double Expectation::of(const Priced& one) const {
    return one.seconds + all_s_ + each_s_ * std::min(one.messages, most_messages_);
}

}  // namespace isochrone::core::select
