// SPDX-License-Identifier: BSD-3-Clause
#include "select/search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "select/candidates.hpp"

namespace isochrone::core::select {
namespace {

/// Of the time of all calls of a kind, that rank 0 may spend on prices, by which it comes later to the next.
constexpr double pricing_share = 0.0075;
/// About what pricing takes for each message; a recipe sends one for each rank and segment.
constexpr double price_of_message_s = 1e-6;
/// The model errs. What it finds this many times as slow is not tried all the same.
constexpr double hopeless = 2;

/// Segments of a message, or blocks, as far as candidates have them.
double messages_of(const Search::Calls& calls, int ranks) {
    constexpr double most_segments = 33;
    if (calls.collective->has_blocks()) return ranks;
    return std::clamp(static_cast<double>(calls.size_bytes) / 4096, 1.0, most_segments);
}

}  // namespace

Search::Search(const Plan& plan, const place::Layout& layout, const Calls& calls, Clock clock)
    : plan_(plan), layout_(layout), calls_(calls), clock_(std::move(clock)) {}

Proposal Search::propose(double incumbent_s, std::int64_t calls, const Shown& elsewhere) {
    const double next_s = price(pricing_share * incumbent_s * static_cast<double>(calls));
    const Expectation expected(tried_, elsewhere);
    const bool has_price = kept_ && tried_[*kept_].priced.seconds > 0;
    const double kept_s = has_price ? expected.of(tried_[*kept_].priced) : incumbent_s;
    const std::size_t lacking = pricing_ ? pricing_->lacking(kept_s, expected) : 1;
    Proposal proposal;
    if (lacking > 0) {
        const double needed_s = priced_s_ + static_cast<double>(lacking) * next_s;
        proposal.what = Proposal::What::wait;
        proposal.calls = static_cast<std::int64_t>(std::ceil(needed_s / (pricing_share * incumbent_s)));
        return proposal;
    }
    const Priced* const next = pricing_->next(expected);
    if (next == nullptr) return proposal;
    const double expected_s = expected.is_measured() ? expected.of(*next) : next->seconds;
    if (expected_s > hopeless * incumbent_s) return proposal;
    proposal.what = Proposal::What::recipe;
    proposal.priced = *next;
    // Of two recipes the model knows how they compare better than how long they take.
    proposal.expected_s = expected_s * incumbent_s / kept_s;
    return proposal;
}

/// Goes on with prices until they have taken as long in all. Returns about how long the next takes.
double Search::price(double allowed_s) {
    double next_s = price_of_message_s * layout_.size * messages_of(calls_, layout_.size);
    if (priced_s_ + next_s > allowed_s) return next_s;
    const double priced_before_s = priced_s_;
    const double begin_s = clock_() - priced_before_s;
    if (!pricing_) {
        pricing_ = std::make_unique<Pricing>(
            candidates(plan_, *calls_.collective, layout_, calls_.size_bytes, calls_.in_order),
            *calls_.collective, layout_, calls_.root, calls_.size_bytes);
    }
    const std::size_t priced_before = pricing_->priced();
    while (priced_s_ + next_s <= allowed_s && pricing_->step()) {
        priced_s_ = clock_() - begin_s;
        next_s = (priced_s_ - priced_before_s) / static_cast<double>(pricing_->priced() - priced_before);
    }
    return next_s;
}

void Search::took(double seconds, bool is_kept) {
    tried_.back().measured_s = seconds;
    if (is_kept) kept_ = tried_.size() - 1;
}

void Search::end() {
    is_over_ = true;
    pricing_.reset();
}

}  // namespace isochrone::core::select
