// SPDX-License-Identifier: BSD-3-Clause
#include "select/choose.hpp"

#include <array>
#include <cstdio>
#include <stdexcept>

#include "compose/compose.hpp"

namespace isochrone::core::select {
namespace {

Choice native(std::string reason) { return {compose::Recipe{}, std::move(reason)}; }

std::string why_no_rule(const Plan& plan, std::string_view collective, const std::string& shape,
                        std::int64_t size_bytes) {
    if (!rules_for(plan, collective, shape).empty())
        return std::to_string(size_bytes) + " bytes were not measured for " + shape;
    return "this shape was not measured: " + shape;
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
    return {recipe, "reductions are to run in one order, whatever the plan says"};
}

}  // namespace

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
    if (has_one_order(plan, collective)) return in_one_order(collective, layout);
    const std::string shape = shape_for(collective, layout, root);
    const Rule* rule =
        find_rule(rules_for(plan, collective.name, shape), collective.agreed_bytes(size_bytes));
    if (rule == nullptr) return native(why_no_rule(plan, collective.name, shape, size_bytes));
    if (rule->left_out) return native("ISOCHRONE_ONLY leaves it out for " + shape);
    if (rule->recipe.kind == compose::Recipe::Kind::native) {
        return native("measured: nothing tried was faster than native for " + shape);
    }
    try {
        static_cast<void>(compose::resolve(collective, rule->recipe, layout, in_order));
    } catch (const std::invalid_argument& error) {
        return native(compose::to_text(rule->recipe) + " does not fit: " + error.what());
    }
    std::array<char, 32> speedup{};
    std::snprintf(speedup.data(), speedup.size(), "%.2f", rule->speedup);
    return {rule->recipe, std::string("measured ") + speedup.data() + "x faster than native for " + shape};
}

}  // namespace isochrone::core::select
