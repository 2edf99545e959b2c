// SPDX-License-Identifier: BSD-3-Clause
#include "compose/bcast.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "algorithms/algorithm.hpp"
#include "compose/tiers.hpp"
#include "schedule/builder.hpp"

namespace isochrone::core::compose {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// A level that the topology has not, or that does not divide this communicator, is named by no rule that
/// fits it; naming one all the same is an error, so that a recipe never means something else than it says.
int level_index(const place::Layout& layout, const Part& part) {
    const int level = layout.level(part.level);
    if (level < 0) throw std::invalid_argument("the topology has no level '" + part.level + "'");
    return level;
}

}  // namespace

Resolved resolve_bcast(const Recipe& recipe, const place::Layout& layout) {
    Resolved resolved{recipe, {}};
    for (std::size_t i = 0; i < recipe.parts.size(); ++i) {
        const Part& part = recipe.parts[i];
        if (recipe.kind == Recipe::Kind::hierarchical) {
            const int level = level_index(layout, part);
            if (!resolved.levels.empty() && level <= resolved.levels.back()) {
                throw std::invalid_argument("level '" + part.level +
                                            "' is not inside the one named before it");
            }
            resolved.levels.push_back(level);
        }
        if (part.algorithm == native_name) {
            if (recipe.kind != Recipe::Kind::hierarchical || i + 1 < recipe.parts.size()) {
                throw std::invalid_argument("'native' can only stand at the innermost level of a recipe");
            }
            continue;
        }
        const auto* algorithm = algorithms::find(algorithms::bcast_table(), part.algorithm);
        if (algorithm == nullptr)
            throw std::invalid_argument("there is no broadcast '" + part.algorithm + "'");
        if (part.parameter == 1 || (part.parameter != 0 && algorithm->default_parameter == 0)) {
            throw std::invalid_argument("broadcast '" + part.algorithm + "' takes no parameter " +
                                        std::to_string(part.parameter));
        }
        if (part.parameter == 0) resolved.recipe.parts[i].parameter = algorithm->default_parameter;
        if (recipe.segment_bytes == 0) {
            resolved.recipe.segment_bytes =
                std::max(resolved.recipe.segment_bytes, algorithm->default_segment);
        }
    }
    if (!resolved.levels.empty()) {
        const auto& outermost = layout.group_of[at(resolved.levels.front())];
        if (std::any_of(outermost.begin(), outermost.end(), [](int group) { return group != 0; })) {
            throw std::invalid_argument("level '" + recipe.parts.front().level + "' does not hold all ranks");
        }
    }
    return resolved;
}

schedule::Schedule bcast(const Resolved& resolved, const place::Layout& layout, int rank, int root) {
    const Recipe& recipe = resolved.recipe;
    schedule::Builder builder(layout.size, rank);
    builder.stage(recipe.segment_bytes > 0);
    const auto append = [&](const Part& part, const algorithms::Group& group) {
        algorithms::find(algorithms::bcast_table(), part.algorithm)->append(builder, group, part.parameter);
    };
    if (recipe.kind == Recipe::Kind::hierarchical) {
        const bool ends_native = recipe.parts.back().algorithm == native_name;
        for (const Tier& tier : tiers(layout, resolved.levels, rank, root)) {
            const auto part = std::find(resolved.levels.begin(), resolved.levels.end(), tier.level);
            if (ends_native && tier.level == resolved.levels.back()) {
                builder.library_bcast(tier.level, tier.group.rank_at(0),
                                      builder.whole(schedule::output_buffer));
            } else {
                append(recipe.parts[at(static_cast<int>(part - resolved.levels.begin()))], tier.group);
            }
        }
    } else {
        algorithms::Group group;
        if (recipe.kind == Recipe::Kind::ordered) {
            group.ranks = tree_order(layout, root);
        } else {
            group.ranks.resize(at(layout.size));
            std::iota(group.ranks.begin(), group.ranks.end(), 0);
        }
        group.root =
            static_cast<int>(std::find(group.ranks.begin(), group.ranks.end(), root) - group.ranks.begin());
        group.me =
            static_cast<int>(std::find(group.ranks.begin(), group.ranks.end(), rank) - group.ranks.begin());
        append(recipe.parts.front(), group);
    }
    return builder.finish();
}

}  // namespace isochrone::core::compose
