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
    double count = 0;
    double missing_s = 0;
    double segments = 0;
    double most_segments = 0;
    for (const auto& [priced, measured_s] : tried) {
        if (measured_s <= 0) continue;
        count += 1;
        missing_s += measured_s - priced.seconds;
        segments += priced.segments;
        most_segments = std::max(most_segments, priced.segments);
    }
    if (missing_s <= 0) return one.seconds;
    const double mean_s = missing_s / count;
    const double mean_segments = segments / count;
    double together = 0;
    double squares = 0;
    for (const auto& [priced, measured_s] : tried) {
        if (measured_s <= 0) continue;
        const double beside = priced.segments - mean_segments;
        together += beside * (measured_s - priced.seconds - mean_s);
        squares += beside * beside;
    }
    // Where all went in as many segments, it is all due to these.
    const double most_s = mean_s / mean_segments;
    const double each_s = squares > 0 ? std::clamp(together / squares, 0.0, most_s) : most_s;
    return one.seconds + mean_s + each_s * (std::min(one.segments, most_segments) - mean_segments);
}

const Pricing::Priced* Pricing::next(const std::vector<Tried>& tried) const {
    const Priced* best = nullptr;
    for (const auto& [one, family] : kept_) {
        const double one_s = expected_s(one, tried);
        const bool is_known = std::any_of(tried.begin(), tried.end(), [&](const Tried& other) {
            return (are_alike(other.priced.recipe, one.recipe) || known_family(other.priced) == family) &&
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
    const auto blocks = static_cast<double>(collective_.has_blocks() ? layout_.size : 1);
    return std::max(1.0, std::ceil(static_cast<double>(size_bytes_) * blocks / static_cast<double>(segment)));
}

std::optional<std::size_t> Pricing::known_family(const Priced& one) const {
    const auto known = std::find_if(families_.begin(), families_.end(), [&](const auto& other) {
        return are_alike(other.first.recipe, one.recipe);
    });
    if (known == families_.end()) return std::nullopt;
    return known->second;
}

std::size_t Pricing::family_of(const Priced& one) {
    if (const auto known = known_family(one)) return *known;
    const auto is_same = [&](const Priced& other) {
        return other.recipe.segment_bytes == one.recipe.segment_bytes &&
               std::abs(other.seconds - one.seconds) < equal * one.seconds;
    };
    const auto named = std::find_if(families_.begin(), families_.end(),
                                    [&](const auto& other) { return is_same(other.first); });
    // Of a family with a name from another segment.
    const auto kept =
        std::find_if(kept_.begin(), kept_.end(), [&](const Kept& other) { return is_same(other.priced); });
    const std::size_t family = named != families_.end() ? named->second
                               : kept != kept_.end()    ? kept->family
                                                        : count_++;
    families_.emplace_back(one, family);
    return family;
}

}  // namespace isochrone::core::select
