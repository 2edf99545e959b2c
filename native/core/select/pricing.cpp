// SPDX-License-Identifier: BSD-3-Clause
#include "select/pricing.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <stdexcept>

#include "compose/resolve.hpp"
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
        const auto is_in_same = [&](const Kept& other) {
            return other.priced.recipe.segment_bytes == recipe.segment_bytes;
        };
        const bool is_full =
            static_cast<std::size_t>(std::count_if(kept_.begin(), kept_.end(), is_in_same)) == most_tried;
        const auto last = std::find_if(kept_.rbegin(), kept_.rend(), is_in_same);
        const double limit_s = is_full ? last->priced.seconds : std::numeric_limits<double>::infinity();
        const double seconds =
            simulate::predict(collective_, recipe, layout_, root_, size_bytes_, {.limit_s = limit_s})
                .slowest_s;
        if (seconds >= limit_s) return true;
        Kept kept{{recipe, seconds, segments_of(recipe)}, 0};
        kept.family = family_of(kept.priced);
        const auto alike = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& other) {
            return is_in_same(other) && other.family == kept.family;
        });
        if (alike != kept_.end()) {
            if (alike->priced.seconds <= seconds) return true;
            kept_.erase(alike);
        } else if (is_full) {
            kept_.erase(std::next(last).base());
        }
        const auto at =
            std::upper_bound(kept_.begin(), kept_.end(), seconds,
                             [](double one, const Kept& other) { return one < other.priced.seconds; });
        kept_.insert(at, std::move(kept));
    } catch (const std::invalid_argument&) {
        // It has no price on this layout.
    }
    return true;
}

std::vector<Pricing::Priced> Pricing::cheapest() const {
    std::vector<Priced> found;
    std::set<std::size_t> families;
    for (const auto& [priced, family] : kept_) {
        if (found.size() < most_tried && families.insert(family).second) found.push_back(priced);
    }
    return found;
}

double Pricing::expected_s(const Priced& one, const std::vector<Tried>& tried) {
    double missing = 0;
    double squares = 0;
    for (const auto& [priced, measured_s] : tried) {
        if (measured_s <= 0) continue;
        missing += (measured_s - priced.seconds) * priced.segments;
        squares += priced.segments * priced.segments;
    }
    return one.seconds + (missing > 0 ? missing / squares * one.segments : 0);
}

const Pricing::Priced* Pricing::next(const std::vector<Tried>& tried) const {
    const Priced* best = nullptr;
    for (const auto& [one, family] : kept_) {
        const double one_s = expected_s(one, tried);
        const bool is_known = std::any_of(tried.begin(), tried.end(), [&](const Tried& other) {
            return are_alike(other.priced.recipe, one.recipe) &&
                   one_s > trial::better * expected_s(other.priced, tried);
        });
        if (!is_known && (best == nullptr || one_s < expected_s(*best, tried))) best = &one;
    }
    return best;
}

std::size_t Pricing::lacking(double incumbent_s, const std::vector<Tried>& tried) const {
    const std::size_t left = candidates_.recipes.size() - priced_;
    const auto until = [&](std::size_t many) { return std::min(left, many > priced_ ? many - priced_ : 0); };
    const Priced* const best = next(tried);
    const bool is_cheaper = best != nullptr && expected_s(*best, tried) < incumbent_s;
    const std::size_t proven = candidates_.proven;
    if (tried.empty()) {
        const bool may_suffice = proven > 0 && (priced_ < proven || is_cheaper);
        return until(may_suffice ? std::min(proven, enough_priced) : enough_priced);
    }
    if (priced_ < enough_priced) return until(enough_priced);
    return is_cheaper ? 0 : std::min(left, enough_priced);
}

double Pricing::segments_of(const Recipe& recipe) const {
    const std::int64_t segment = compose::resolve(collective_, recipe, layout_).recipe.segment_bytes;
    if (segment == 0) return 1;
    return std::max(1.0, std::ceil(static_cast<double>(size_bytes_) / static_cast<double>(segment)));
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
