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
        const double beside = priced.messages_beside() - found.messages;
        found.messages += beside / found.count;
        found.missing_s += (measured_s - priced.seconds - found.missing_s) / found.count;
        found.together_s += beside * (measured_s - priced.seconds - found.missing_s);
        found.squares += beside * (priced.messages_beside() - found.messages);
        found.most_messages = std::max(found.most_messages, priced.messages_beside());
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

double MessageCost::of(double messages, const MessageCost& raced) const {
    const double beyond = std::min(messages, raced.most_messages_) - most_messages_;
    return each_s() * std::min(messages, most_messages_) + raced.each_s() * std::max(0.0, beyond);
}

Expectation::Expectation(std::vector<Tried> tried, const MessageCost& elsewhere, const MessageCost& raced)
    : tried_(std::move(tried)), raced_(raced) {
    const Moments own = moments_of(tried_);
    if (own.count == 0) return;
    is_measured_ = true;
    // The best fit with w = 0 has this c: the sum of k t over that of k k.
    const double all_squares = own.squares + own.count * own.messages * own.messages;
    const double each_alone_s =
        all_squares > 0
            ? std::max(0.0, (own.together_s + own.count * own.messages * own.missing_s) / all_squares)
            : 0;
    double each_s = each_alone_s;
    double most = own.most_messages;
    if (own.squares > 0) {
        each_s = std::max(0.0, own.together_s / own.squares);
    } else if (elsewhere.is_known() && elsewhere.most_messages() >= most) {
        each_s = elsewhere.each_s();
        most = elsewhere.most_messages();
    }
    all_s_ = own.missing_s - each_s * own.messages;
    if (all_s_ < 0) {
        all_s_ = 0;
        each_s = std::min(each_s, each_alone_s);
    }
    cost_ = {each_s, most};
}

double Expectation::of(const Priced& one) const {
    if (!is_measured_) return one.seconds;
    return one.seconds + all_s_ + cost_.of(one.messages_beside(), raced_);
}

}  // namespace isochrone::core::select
