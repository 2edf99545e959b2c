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

/// Segments of a message, or blocks, as far as candidates have them.
double messages_of(const Search::Call& call, int ranks) {
    constexpr double most_segments = 33;
    if (call.collective->has_blocks()) return ranks;
    return std::clamp(static_cast<double>(call.size_bytes) / 4096, 1.0, most_segments);
}

}  // namespace

Search::Search(const Plan& plan, const place::Layout& layout, const Call& call, Clock clock)
    : plan_(plan),
      layout_(layout),
      call_(call),
      clock_(std::move(clock)),
      next_price_s_(price_of_message_s * layout.size * messages_of(call, layout.size)) {}

Proposal Search::propose(double incumbent_s, std::int64_t calls_so_far, const MessageCost& elsewhere) {
    const MessageCost& raced = plan_.messages;
    price_more(pricing_share * incumbent_s * static_cast<double>(calls_so_far), elsewhere.each_s() > 0);
    const Expectation expected(tried_, elsewhere, raced);
    const bool has_price = kept_ && tried_[*kept_].priced.seconds > 0;
    const double kept_s = has_price ? expected.of(tried_[*kept_].priced) : incumbent_s;
    const std::size_t lacking = pricing_ ? pricing_->lacking(kept_s, expected) : 1;
    Proposal proposal;
    if (lacking > 0) {
        const double needed_s = priced_s_ + static_cast<double>(lacking) * next_price_s_;
        proposal.what = Proposal::What::wait;
        proposal.wait_until = static_cast<std::int64_t>(std::ceil(needed_s / (pricing_share * incumbent_s)));
        return proposal;
    }
    const Priced* next = pricing_->next(expected);
    if (next == nullptr || expected.of(*next) > hopeless * incumbent_s) return proposal;
    if (!expected.is_measured()) {
        const Priced* const by_messages = pricing_->next_by_messages(expected, elsewhere, raced, incumbent_s);
        proposal.is_by_messages = by_messages != nullptr && by_messages != next;
        if (proposal.is_by_messages) next = by_messages;
    }
    proposal.what = Proposal::What::recipe;
    proposal.priced = *next;
    // Of two recipes the model knows how they compare better than how long they take.
    proposal.expected_s = expected.of(*next) * incumbent_s / kept_s;
    return proposal;
}

/// Goes on until prices have taken as long in all.
void Search::price_more(double allowed_s, bool are_slow_here) {
    if (priced_s_ + next_price_s_ > allowed_s) return;
    const double priced_before_s = priced_s_;
    const double begin_s = clock_() - priced_before_s;
    if (!pricing_) {
        auto found = candidates(plan_, *call_.collective, layout_, call_.size_bytes, call_.in_order);
        if (are_slow_here || plan_.messages.each_s() > 0) alternate_segments(found);
        pricing_ = std::make_unique<Pricing>(std::move(found), *call_.collective, layout_, call_.root,
                                             call_.size_bytes);
    }
    const std::size_t priced_before = pricing_->priced();
    while (priced_s_ + next_price_s_ <= allowed_s && pricing_->step()) {
        priced_s_ = clock_() - begin_s;
        next_price_s_ =
            (priced_s_ - priced_before_s) / static_cast<double>(pricing_->priced() - priced_before);
    }
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
