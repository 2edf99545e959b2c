// SPDX-License-Identifier: BSD-3-Clause
#include "select/pricing.hpp"

#include <algorithm>
#include <cmath>
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
    const double took = candidates_.took[priced_];
    const double of_price = took > 0 ? took : 1;
    const Recipe& recipe = candidates_.recipes[priced_++];
    try {
        const auto resolved = compose::resolve(collective_, recipe, layout_);
        const std::int64_t segment = resolved.recipe.segment_bytes;
        const auto composed = simulate::composed(resolved, layout_, root_, size_bytes_);
        const auto messages = static_cast<double>(simulate::messages(composed, layout_));
        Kept kept{{recipe, 0, messages, took}, segment, 0};
        const double limit_s = limit_for(kept.priced.messages_beside());
        const double seconds = kept.priced.seconds =
            of_price *
            simulate::simulate(composed.schedules, composed.extents, layout_, {.limit_s = limit_s / of_price})
                .slowest_s;
        if (seconds >= limit_s) return true;
        kept.family = family_of(kept);
        const auto alike = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& other) {
            return other.segment_bytes == segment && other.family == kept.family;
        });
        if (alike != kept_.end()) {
            // The same recipe by another name: what it took goes before the model. Of several that were raced
            // the first was so at a size that is nearer.
            const Priced& known = alike->priced;
            const bool is_better = !known.is_raced() && (kept.priced.is_raced() || seconds < known.seconds);
            if (!is_better) return true;
            kept_.erase(alike);
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

double Pricing::limit_for(double messages) const {
    std::set<std::size_t> cheaper;
    for (const Kept& kept : kept_) {
        if (kept.priced.messages_beside() > messages) continue;
        cheaper.insert(kept.family);
        if (cheaper.size() == most_tried) return kept.priced.seconds;
    }
    return std::numeric_limits<double>::infinity();
}

std::vector<Priced> Pricing::cheapest() const {
    std::vector<Priced> found;
    std::set<std::size_t> families;
    for (const Kept& kept : kept_) {
        if (found.size() < most_tried && families.insert(kept.family).second) found.push_back(kept.priced);
    }
    return found;
}

template <class Key>
const Priced* Pricing::least(const Expectation& expected, const Key& key) const {
    const Priced* best = nullptr;
    double best_key = std::numeric_limits<double>::infinity();
    for (const Kept& kept : kept_) {
        const Priced& one = kept.priced;
        const auto& tried = expected.tried();
        const bool is_known = std::any_of(tried.begin(), tried.end(), [&](const Tried& other) {
            return (are_alike(other.priced.recipe, one.recipe) ||
                    known_family(other.priced.recipe) == kept.family) &&
                   expected.of(one) > trial::better * expected.of(other.priced);
        });
        if (!is_known && key(one) < best_key) {
            best = &one;
            best_key = key(one);
        }
    }
    return best;
}

const Priced* Pricing::next(const Expectation& expected) const {
    return least(expected, [&](const Priced& one) { return expected.of(one); });
}

const Priced* Pricing::next_by_messages(const Expectation& expected, const MessageCost& elsewhere,
                                        const MessageCost& raced, double limit_s) const {
    return least(expected, [&](const Priced& one) {
        if (one.seconds >= limit_s) return std::numeric_limits<double>::infinity();
        return one.seconds + elsewhere.of(one.messages_beside(), raced);
    });
}

std::size_t Pricing::lacking(double incumbent_s, const Expectation& expected) const {
    const std::size_t left = candidates_.recipes.size() - priced_;
    const auto until = [&](std::size_t many) { return std::min(left, many > priced_ ? many - priced_ : 0); };
    const Priced* const best = next(expected);
    const bool is_cheaper = best != nullptr && expected.of(*best) < incumbent_s;
    const std::size_t proven = candidates_.proven;
    if (expected.tried().empty()) {
        if (is_cheaper && best->is_raced()) return 0;
        const bool may_suffice = proven > 0 && (priced_ < proven || is_cheaper);
        const std::size_t many = until(may_suffice ? std::min(proven, enough_priced) : enough_priced);
        const bool is_hopeless = best == nullptr || expected.of(*best) > hopeless * incumbent_s;
        return many == 0 && is_hopeless ? std::min(left, enough_priced) : many;
    }
    if (priced_ < enough_priced) return until(enough_priced);
    return is_cheaper ? 0 : std::min(left, enough_priced);
}

std::optional<std::size_t> Pricing::known_family(const Recipe& recipe) const {
    const auto known = std::find_if(families_.begin(), families_.end(), [&](const Kept& other) {
        return are_alike(other.priced.recipe, recipe);
    });
    if (known == families_.end()) return std::nullopt;
    return known->family;
}

std::size_t Pricing::family_of(const Kept& one) {
    if (const auto known = known_family(one.priced.recipe)) return *known;
    const auto is_same = [&](const Kept& other) {
        return other.segment_bytes == one.segment_bytes && other.priced.messages == one.priced.messages &&
               std::abs(other.priced.model_s() - one.priced.model_s()) < equal * one.priced.model_s();
    };
    const auto named = std::find_if(families_.begin(), families_.end(), is_same);
    // Of a family with a name from another segment.
    const auto kept = std::find_if(kept_.begin(), kept_.end(), is_same);
    const std::size_t family = named != families_.end() ? named->family
                               : kept != kept_.end()    ? kept->family
                                                        : count_++;
    families_.push_back(one);
    families_.back().family = family;
    return family;
}

}  // namespace isochrone::core::select
