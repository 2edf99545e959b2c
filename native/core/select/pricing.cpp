// SPDX-License-Identifier: BSD-3-Clause
#include "select/pricing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "simulate/predict.hpp"
#include "trial/trial.hpp"

namespace isochrone::core::select {
namespace {

using collectives::Collective;
using compose::Recipe;

constexpr double equal = 1e-6;            // of a price: the same messages by another name
constexpr std::size_t enough_priced = 8;  // the more likely ones come first

}  // namespace

bool are_alike(const Recipe& one, const Recipe& other) {
    return one.kind == other.kind && one.parts == other.parts;
}

Pricing::Pricing(Candidates candidates, const Collective& collective, const place::Layout& layout, int root,
                 std::int64_t size_bytes)
    : candidates_(std::move(candidates)),
      collective_(collective),
      layout_(layout),
      root_(root),
      size_bytes_(size_bytes) {}

bool Pricing::step() {
    if (is_done()) return false;
    const Recipe& recipe = candidates_.recipes[priced_++];
    try {
        const double limit_s = cheapest_.size() < most_tried ? std::numeric_limits<double>::infinity()
                                                             : cheapest_.back().seconds;
        const double seconds =
            simulate::predict(collective_, recipe, layout_, root_, size_bytes_, {.limit_s = limit_s})
                .slowest_s;
        if (seconds >= limit_s) return true;
        const std::size_t family = family_of({recipe, seconds});
        const auto alike = std::find_if(cheapest_.begin(), cheapest_.end(),
                                        [&](const Priced& other) { return family_of(other) == family; });
        if (alike != cheapest_.end()) {
            if (alike->seconds <= seconds) return true;
            cheapest_.erase(alike);
        }
        const auto at = std::upper_bound(cheapest_.begin(), cheapest_.end(), seconds,
                                         [](double one, const Priced& other) { return one < other.seconds; });
        cheapest_.insert(at, {recipe, seconds});
        if (cheapest_.size() > most_tried) cheapest_.pop_back();
    } catch (const std::invalid_argument&) {
        // It has no price on this layout.
    }
    return true;
}

const Pricing::Priced* Pricing::next(const std::vector<Priced>& tried) const {
    const auto found = std::find_if(cheapest_.begin(), cheapest_.end(), [&](const Priced& one) {
        return std::none_of(tried.begin(), tried.end(), [&](const Priced& other) {
            return are_alike(other.recipe, one.recipe) && one.seconds > trial::better * other.seconds;
        });
    });
    return found != cheapest_.end() ? &*found : nullptr;
}

std::size_t Pricing::lacking(double incumbent_s, const std::vector<Priced>& tried) const {
    const std::size_t left = candidates_.recipes.size() - priced_;
    const auto until = [&](std::size_t many) { return std::min(left, many > priced_ ? many - priced_ : 0); };
    const Priced* const best = next(tried);
    const bool is_cheaper = best != nullptr && best->seconds < incumbent_s;
    const std::size_t proven = candidates_.proven;
    if (tried.empty()) {
        const bool may_suffice = proven > 0 && (priced_ < proven || is_cheaper);
        return until(may_suffice ? std::min(proven, enough_priced) : enough_priced);
    }
    if (priced_ < enough_priced) return until(enough_priced);
    return is_cheaper ? 0 : std::min(left, enough_priced);
}

std::size_t Pricing::family_of(const Priced& one) {
    const auto known = std::find_if(families_.begin(), families_.end(), [&](const auto& other) {
        return are_alike(other.first.recipe, one.recipe);
    });
    if (known != families_.end()) return known->second;
    const auto same = std::find_if(families_.begin(), families_.end(), [&](const auto& other) {
        return other.first.recipe.segment_bytes == one.recipe.segment_bytes &&
               std::abs(other.first.seconds - one.seconds) < equal * one.seconds;
    });
    const std::size_t family = same != families_.end() ? same->second : families_.size();
    families_.emplace_back(one, family);
    return family;
}

}  // namespace isochrone::core::select
