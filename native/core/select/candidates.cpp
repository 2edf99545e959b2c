// SPDX-License-Identifier: BSD-3-Clause
#include "select/candidates.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compose/resolve.hpp"

namespace isochrone::core::select {
namespace {

using collectives::Collective;
using compose::Recipe;

constexpr std::int64_t similar = 4;                // times larger or smaller
constexpr std::int64_t smallest_segmented = 8192;  // below, a message is not cut
constexpr int largest_quadratic = 128;             // ranks, for what sends as many messages as their square
constexpr int largest_proven_quadratic = 512;      // ... where it was measured: a price holds all messages

/// The levels that a recipe names: the innermost that holds all ranks, and those inside that divide them
/// further, but for single ranks.
std::vector<std::string> levels_of(const place::Layout& layout, bool only_runs) {
    std::vector<std::string> names;
    std::size_t before = 1;
    for (std::size_t level = 0; level < layout.levels.size(); ++level) {
        const auto& group_of = layout.group_of[level];
        const std::size_t groups = std::set<int>(group_of.begin(), group_of.end()).size();
        if (groups == 1) {
            names = {layout.levels[level]};
        } else if (groups > before && groups < group_of.size() &&
                   (!only_runs || layout.has_runs(static_cast<int>(level)))) {
            names.push_back(layout.levels[level]);
        }
        before = std::max(before, groups);
    }
    return names;
}

/// What runs inside a level where the table across has a row of some name: that row, or the plainest.
std::string inside(algorithms::Table table, std::string_view name, bool large) {
    if (algorithms::find(table, name) != nullptr) return std::string(name);
    const auto plain = large ? std::to_array<std::string_view>({"chain", "binomial"})
                             : std::to_array<std::string_view>({"binomial", "chain"});
    for (const std::string_view one : plain) {
        if (algorithms::find(table, one) != nullptr) return std::string(one);
    }
    return std::string(table.front().name);
}

/// Segments of a message: none, then some; none at all where it is small, or blocks.
std::vector<std::int64_t> segments_of(const Collective& collective, std::int64_t bytes) {
    if (bytes < smallest_segmented || collective.has_blocks()) return {0};
    const auto near = [&](std::int64_t parts) {
        const auto segment =
            std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, bytes / parts)));
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(segment), 4096, 262144);
    };
    std::vector<std::int64_t> segments;
    for (const std::int64_t segment : {near(32), near(8), std::int64_t{0}}) {
        if (std::find(segments.begin(), segments.end(), segment) == segments.end() && segment < bytes)
            segments.push_back(segment);
    }
    return segments;
}

class Collector {
  public:
    Collector(const Collective& collective, const place::Layout& layout, bool in_order)
        : collective_(collective), layout_(layout), in_order_(in_order) {}

    /// `took`: of its price, somewhere. Of one that is there already the first that is known counts.
    void add(const Recipe& recipe, double recipe_took = 0) {
        if (recipe.kind == Recipe::Kind::native) return;
        if (const auto same = std::find(found.begin(), found.end(), recipe); same != found.end()) {
            double& known = took[static_cast<std::size_t>(same - found.begin())];
            if (known == 0) known = recipe_took;
            return;
        }
        try {
            static_cast<void>(compose::resolve(collective_, recipe, layout_, in_order_));
            found.push_back(recipe);
            took.push_back(recipe_took);
        } catch (const std::invalid_argument&) {
            // It is for other layouts, or operations.
        }
    }

    std::vector<Recipe> found;
    std::vector<double> took;

  private:
    const Collective& collective_;
    const place::Layout& layout_;
    bool in_order_;
};

/// Whether a recipe's price would take the memory of all messages between all ranks.
bool is_too_large(const Collective& collective, const Recipe& recipe, const place::Layout& layout) {
    if (layout.size <= largest_proven_quadratic || recipe.kind != Recipe::Kind::flat) return false;
    const auto rows = collective.across();
    return std::any_of(rows.begin(), rows.end(), [&](const auto& row) {
        return row.quadratic_messages && row.name == recipe.parts.front().choice.algorithm;
    });
}

}  // namespace

Candidates candidates(const Plan& plan, const Collective& collective, const place::Layout& layout,
                      std::int64_t size_bytes, bool in_order) {
    Collector collector(collective, layout, in_order);
    const std::int64_t size = collective.agreed_bytes(size_bytes);
    // What a recipe took is known best of this size.
    for (const std::int64_t times : {std::int64_t{1}, similar}) {
        for (const Rule& rule : rules_for(plan, collective.name)) {
            const bool is_near = rule.min_bytes / times <= size && size / times <= rule.max_bytes;
            if (is_near && !is_too_large(collective, rule.recipe, layout))
                collector.add(rule.recipe, rule.took);
        }
    }
    const std::size_t proven = collector.found.size();
    const std::int64_t message = collective.has_blocks() ? size * layout.size : size;
    const bool large = message >= smallest_segmented;
    const std::vector<std::string> levels = levels_of(layout, collective.in_order);
    for (const std::int64_t segment : segments_of(collective, size)) {
        for (const bool by_levels : {true, false}) {
            if (by_levels && levels.size() < 2) continue;
            for (const auto& row : collective.across()) {
                if (row.quadratic_messages && layout.size > largest_quadratic) continue;
                Recipe recipe;
                recipe.kind = by_levels ? Recipe::Kind::hierarchical : Recipe::Kind::flat;
                recipe.segment_bytes = segment;
                const compose::Order order = by_levels || levels.size() < 2 || collective.in_order
                                                 ? compose::Order::ranks
                                                 : compose::Order::tree;
                recipe.parts.push_back({by_levels ? levels.front() : "", order, {std::string(row.name)}, {}});
                for (std::size_t level = 1; by_levels && level < levels.size(); ++level) {
                    compose::Part part;
                    part.level = levels[level];
                    const auto up = collective.up != nullptr ? inside(collective.up(), row.name, large) : "";
                    const auto down =
                        collective.down != nullptr ? inside(collective.down(), row.name, large) : "";
                    part.choice.algorithm = up.empty() ? down : up;
                    if (!up.empty() && !down.empty() && up != down) part.down.algorithm = down;
                    recipe.parts.push_back(std::move(part));
                }
                collector.add(recipe);
            }
        }
    }
    return {std::move(collector.found), std::move(collector.took), proven};
}

void alternate_segments(Candidates& candidates) {
    struct Turn {
        std::size_t number;  // 0: known; in each of the others one of each size
        Recipe recipe;
        double took;
    };
    std::map<std::int64_t, std::size_t> counts;
    std::vector<Turn> turns;
    std::size_t proven = 0;
    for (std::size_t i = 0; i < candidates.recipes.size(); ++i) {
        Recipe& one = candidates.recipes[i];
        const bool is_known = candidates.took[i] > 0;
        if (is_known) ++proven;
        const std::size_t number = is_known ? 0 : ++counts[one.segment_bytes];
        turns.push_back({number, std::move(one), candidates.took[i]});
    }
    std::stable_sort(turns.begin(), turns.end(),
                     [](const Turn& one, const Turn& other) { return one.number < other.number; });
    candidates = {};
    candidates.proven = proven;
    for (Turn& turn : turns) {
        candidates.recipes.push_back(std::move(turn.recipe));
        candidates.took.push_back(turn.took);
    }
}

}  // namespace isochrone::core::select
