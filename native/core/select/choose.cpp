// SPDX-License-Identifier: BSD-3-Clause
#include "select/choose.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "compose/compose.hpp"
#include "select/shapes.hpp"

namespace isochrone::core::select {
namespace {

constexpr std::int64_t largest_size = std::numeric_limits<std::int64_t>::max();

Choice native(std::string reason, Basis basis = Basis::none, const Rule* rule = nullptr) {
    return {.recipe = {}, .reason = std::move(reason), .basis = basis, .rule = rule};
}

std::string in_words(double speedup) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f", speedup);
    return text.data();
}

std::string why_no_rule(const Plan& plan, std::string_view collective, const std::string& shape,
                        const std::string& order, std::int64_t size_bytes) {
    if (!plan.rules.empty() && rules_for(plan, collective).empty())
        return "the plan has no rules for " + std::string(collective);
    const auto of_shape = rules_for(plan, collective, shape);
    if (of_shape.empty()) return "this shape was not measured: " + shape;
    if (for_order(of_shape, order).empty())
        return "ranks in this order (" + order + ") were not measured: " + shape;
    return std::to_string(size_bytes) + " bytes were not measured for " + shape;
}

/// Whether a recipe can run here; else why not.
std::string misfit_of(const collectives::Collective& collective, const compose::Recipe& recipe,
                      const place::Layout& layout, bool in_order) {
    if (recipe.kind == compose::Recipe::Kind::native) return {};
    try {
        static_cast<void>(compose::resolve(collective, recipe, layout, in_order));
    } catch (const std::invalid_argument& error) {
        return compose::to_text(recipe) + " does not fit: " + error.what();
    }
    return {};
}

/// Rules of two shapes around this one.
struct Around {
    const Rule* one = nullptr;
    const Rule* other = nullptr;
};

/// Those of the nearest two shapes around that were measured at this size; of equally near ones, the first.
Around around(const Plan& plan, std::string_view collective, const std::string& shape,
              const std::string& order, std::int64_t size) {
    using Known = std::pair<std::int64_t, const Rule*>;  // how far it is
    const auto here = parse_shape(shape);
    if (!here) return {};
    // On each side the nearest two: only of those with the same numbers as this one may both be wanted.
    std::map<std::vector<signed char>, std::vector<Known>> on_side;
    const auto rules = rules_for(plan, collective);
    for (auto first = rules.begin(); first != rules.end();) {
        const auto last =
            std::find_if(first, rules.end(), [&](const Rule& rule) { return rule.shape != first->shape; });
        const Rule* rule = find_rule(for_order({first, last}, order), size);
        first = last;
        if (rule == nullptr || rule->left_out != LeftOut::no || rule->shape == shape) continue;
        const auto known = parse_shape(rule->shape);
        const auto found = known ? bearing(*here, *known) : std::nullopt;
        if (!found) continue;
        auto& nearest = on_side[found->sides];
        nearest.emplace_back(found->distance, rule);
        std::sort(nearest.begin(), nearest.end());
        if (nearest.size() > 2) nearest.pop_back();
    }
    // Two with this one between them are as far apart as both are from it.
    std::tuple<std::int64_t, const Rule*, const Rule*> best;
    const auto consider = [&best](const Known& one, const Known& other) {
        const auto [first, last] = std::minmax(one.second, other.second);
        const std::tuple pair{one.first + other.first, first, last};
        if (std::get<1>(best) == nullptr || pair < best) best = pair;
    };
    for (auto one = on_side.begin(); one != on_side.end(); ++one) {
        if (one->second.size() == 2 && is_between(one->first, one->first))
            consider(one->second[0], one->second[1]);
        for (auto other = std::next(one); other != on_side.end(); ++other) {
            if (is_between(one->first, other->first)) consider(one->second[0], other->second[0]);
        }
    }
    return {std::get<1>(best), std::get<2>(best)};
}

/// A choice for sizes around one ends where a rule begins or ends.
void end_beside(Choice& choice, const Rule& rule, std::int64_t size) {
    if (rule.max_bytes < size) {
        choice.min_bytes = std::max(choice.min_bytes, rule.max_bytes + 1);
    } else if (rule.min_bytes > size) {
        choice.max_bytes = std::min(choice.max_bytes, rule.min_bytes - 1);
    } else {
        choice.min_bytes = std::max(choice.min_bytes, rule.min_bytes);
        choice.max_bytes = std::min(choice.max_bytes, rule.max_bytes);
    }
}

/// What holds where the plan has no rule for this shape, order and size.
Choice without_rule(const Plan& plan, const collectives::Collective& collective, const place::Layout& layout,
                    const std::string& shape, const std::string& order, std::int64_t size, bool in_order) {
    const auto [one, other] = around(plan, collective.name, shape, order, size);
    if (one != nullptr && one->recipe == other->recipe &&
        misfit_of(collective, one->recipe, layout, in_order).empty()) {
        const double speedup = std::min(one->speedup, other->speedup);
        const bool is_native = one->recipe.kind == compose::Recipe::Kind::native;
        Choice choice{
            .recipe = one->recipe,
            .reason = "interpolated: " +
                      (is_native ? "nothing tried was faster than native"
                                 : "measured " + in_words(speedup) + "x faster than native or more") +
                      " for '" + one->shape + "' and '" + other->shape + "', around " + shape,
            .basis = Basis::interpolated,
            .speedup = speedup};
        choice.min_bytes = std::max(one->min_bytes, other->min_bytes);
        choice.max_bytes = std::min(one->max_bytes, other->max_bytes);
        return choice;
    }
    // Of calls whose sizes are known to no rank alone nothing can be priced, and small and large ones are
    // one kind: nothing is tried there.
    const bool has_price = collective.agreed != collectives::Agreed::nothing;
    Choice choice = native(why_no_rule(plan, collective.name, shape, order, size),
                           has_price ? Basis::predicted : Basis::none);
    choice.max_bytes = largest_size;
    return choice;
}

/// A binomial tree in rank order: which operands come together follows from the number of ranks alone, not
/// from where they are, the root, the segments, or what comes in first.
Choice in_one_order(const collectives::Collective& collective, const place::Layout& layout) {
    // Scans combine in one order by any flat algorithm; of trees the order depends on the number of ranks
    // alone.
    const compose::Recipe recipe = compose::parse_recipe(collective.in_order ? "chain" : "binomial");
    try {
        static_cast<void>(compose::resolve(collective, recipe, layout, true));
    } catch (const std::invalid_argument& error) {
        return native(std::string("it has no recipe of one order: ") + error.what());
    }
    return {.recipe = recipe, .reason = "reductions are to run in one order, whatever the plan says"};
}

Choice by_rule(const Rule& rule, const collectives::Collective& collective, const place::Layout& layout,
               const std::string& shape, bool in_order) {
    switch (rule.left_out) {
        case LeftOut::no:
            break;
        case LeftOut::by_user:
            return native("ISOCHRONE_ONLY leaves it out for " + shape);
        case LeftOut::as_live:
            return native(
                "its rule was found live, where no algorithm changes a bit of the result; to have it here "
                "too: --trials all");
    }
    const std::string how = rule.basis == Basis::live ? "found live: " : "measured";
    if (rule.recipe.kind == compose::Recipe::Kind::native) {
        return native((rule.basis == Basis::live ? how : how + ": ") +
                          "nothing tried was faster than native for " + shape,
                      rule.basis);
    }
    std::string misfit = misfit_of(collective, rule.recipe, layout, in_order);
    if (!misfit.empty()) return native(std::move(misfit));
    return {.recipe = rule.recipe,
            .reason = (rule.basis == Basis::live ? how : how + " ") + in_words(rule.speedup) +
                      "x faster than native for " + shape,
            .basis = rule.basis};
}

}  // namespace

SizeClass size_class(std::int64_t bytes) {
    if (bytes < 1) return {0, 0};
    const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes)));
    return {std::int64_t{1} << (bits - 1),
            bits < 63 ? (std::int64_t{1} << bits) - 1 : std::numeric_limits<std::int64_t>::max()};
}

bool has_one_order(const Plan& plan, const collectives::Collective& collective) {
    return plan.reproducible && collective.reduces;
}

std::string shape_for(const collectives::Collective& collective, const place::Layout& layout, int root) {
    return collective.rooted ? place::shape(layout, root) : place::shape(layout);
}

Choice choose(const Plan& plan, const collectives::Collective& collective, const place::Layout& layout,
              int root, std::int64_t size_bytes, bool in_order) {
    if (root < 0 || root >= layout.size) {
        throw std::invalid_argument("root " + std::to_string(root) + " is not one of " +
                                    std::to_string(layout.size) + " ranks");
    }
    if (has_one_order(plan, collective)) {
        Choice choice = in_one_order(collective, layout);
        choice.max_bytes = largest_size;
        return choice;
    }
    const std::string shape = shape_for(collective, layout, root);
    const std::string order = place::order(layout);
    const std::int64_t size = collective.agreed_bytes(size_bytes);
    const auto rules = for_order(rules_for(plan, collective.name, shape), order);
    const Rule* rule = find_rule(rules, size);
    if (rule == nullptr) {
        Choice choice = without_rule(plan, collective, layout, shape, order, size, in_order);
        const SizeClass near = size_class(size);
        choice.min_bytes = std::max(choice.min_bytes, near.min_bytes);
        choice.max_bytes = std::min(choice.max_bytes, near.max_bytes);
        // At another size than this, other rules around this shape may say something, or agree.
        for (const Rule& beside : rules_for(plan, collective.name)) end_beside(choice, beside, size);
        return choice;
    }
    Choice choice = by_rule(*rule, collective, layout, shape, in_order);
    choice.rule = rule;
    choice.speedup = rule->speedup;
    choice.min_bytes = rule->min_bytes;
    choice.max_bytes = rule->max_bytes;
    return choice;
}

}  // namespace isochrone::core::select
