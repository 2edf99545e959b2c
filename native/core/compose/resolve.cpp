// SPDX-License-Identifier: BSD-3-Clause
#include "compose/resolve.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

namespace isochrone::core::compose {
namespace {

using collectives::Collective;

/// As messages name a collective: "a broadcast", "an allreduce".
std::string with_article(const Collective& collective) {
    const std::string words(collective.words);
    return (std::string_view("aeiou").find(words.front()) == std::string_view::npos ? "a " : "an ") + words;
}

Setting find_setting(const Collective& collective, algorithms::Table table, const Choice& choice,
                     bool in_order, const char* way = "") {
    const std::string what = std::string(collective.words) + " '" + choice.algorithm + "'";
    const auto* row = algorithms::find(table, choice.algorithm);
    if (row == nullptr) throw std::invalid_argument("there is no " + what + way);
    if (choice.parameter == 1 || (choice.parameter != 0 && row->default_parameter == 0)) {
        throw std::invalid_argument(what + " takes no parameter " + std::to_string(choice.parameter));
    }
    if (in_order && row->commutative_only)
        throw std::invalid_argument(what + " does not keep the order of ranks");
    if (!collective.has_lengths_for(*row)) throw std::invalid_argument(what + " needs blocks of one length");
    return {row, choice.parameter == 0 ? row->default_parameter : choice.parameter};
}

/// A level that the topology has not, or that does not divide this communicator, is named by no rule that
/// fits it; naming one all the same is an error, so that a recipe never means something else than it says.
int level_of(const place::Layout& layout, const std::string& name, const std::vector<int>& before,
             bool in_order) {
    const int level = layout.level(name);
    if (level < 0) {
        std::string known;
        for (const auto& other : layout.levels) known += (known.empty() ? "" : ", ") + other;
        throw std::invalid_argument("there is no level '" + name + "' (known: " + known + ")");
    }
    if (!before.empty() && level <= before.back()) {
        throw std::invalid_argument("level '" + name + "' is not inside the one named before it");
    }
    if (in_order && !layout.has_runs(level)) {
        throw std::invalid_argument("the groups of level '" + name +
                                    "' are no runs of consecutive ranks, whose order is to be kept");
    }
    const auto& groups = layout.group_of[static_cast<std::size_t>(level)];
    if (before.empty() && std::any_of(groups.begin(), groups.end(), [](int group) { return group != 0; })) {
        throw std::invalid_argument("level '" + name + "' does not hold all ranks");
    }
    return level;
}

void check_native(const Collective& collective, const Recipe& recipe, bool is_innermost) {
    if (recipe.kind != Recipe::Kind::hierarchical || !is_innermost) {
        throw std::invalid_argument("'native' can only stand at the innermost level of a recipe");
    }
    if (collective.up != nullptr || collective.has_blocks()) {
        throw std::invalid_argument("'native' cannot stand inside a recipe for " + with_article(collective));
    }
}

Setting across(const Collective& collective, const Recipe& recipe, const Choice& choice, bool in_order) {
    const Setting found = find_setting(collective, collective.across(), choice, in_order);
    if (recipe.is_mapped() && found.algorithm->tree == nullptr) {
        throw std::invalid_argument(with_article(collective) + " '" + choice.algorithm +
                                    "' has no tree to lay over the network");
    }
    return found;
}

/// Whether what goes by a setting is one message, which may be cut into segments, and not blocks.
bool is_one_message(const Collective& collective, bool is_down) {
    return !collective.has_blocks() || (is_down && collective.down == algorithms::bcast_table);
}

}  // namespace

Resolved resolve(const Collective& collective, const Recipe& recipe, const place::Layout& layout,
                 bool in_order) {
    in_order = in_order || collective.in_order;
    const bool is_hierarchical = recipe.kind == Recipe::Kind::hierarchical;
    if (in_order && recipe.order() != Order::ranks) {
        throw std::invalid_argument("the order of the tree is not that of ranks, which is to be kept");
    }
    Resolved resolved{.collective = &collective,
                      .recipe = recipe,
                      .in_order = in_order,
                      .levels = {},
                      .up = {},
                      .down = {}};
    std::int64_t segment_bytes = 0;  // that its algorithms ask for
    for (std::size_t i = 0; i < recipe.parts.size(); ++i) {
        const Part& part = recipe.parts[i];
        if (is_hierarchical)
            resolved.levels.push_back(level_of(layout, part.level, resolved.levels, in_order));
        const bool has_two = i > 0 && collective.up != nullptr && collective.down != nullptr;
        const bool names_two = !part.down.algorithm.empty();
        if (names_two && !has_two) {
            throw std::invalid_argument(with_article(collective) + " has no two ways at '" +
                                        part.choice.algorithm + "+" + part.down.algorithm + "'");
        }
        Setting up;
        Setting down;
        if (part.choice.algorithm == native_name || part.down.algorithm == native_name) {
            check_native(collective, recipe, i + 1 == recipe.parts.size());
            if (i == 0 && recipe.order() != Order::ranks)
                throw std::invalid_argument("the library's own has an order of its own");
        } else if (i == 0) {
            up = across(collective, recipe, part.choice, in_order);
        } else {
            if (collective.up != nullptr)
                up = find_setting(collective, collective.up(), part.choice, in_order,
                                  has_two ? " on the way up" : "");
            if (collective.down != nullptr)
                down = find_setting(collective, collective.down(), names_two ? part.down : part.choice, false,
                                    has_two ? " on the way down" : "");
        }
        for (const bool is_down : {false, true}) {
            const Setting& setting = is_down ? down : up;
            if (setting.algorithm != nullptr && is_one_message(collective, is_down))
                segment_bytes = std::max(segment_bytes, setting.algorithm->default_segment);
        }
        resolved.up.push_back(up);
        resolved.down.push_back(down);
    }
    if (recipe.segment_bytes == 0) {
        resolved.recipe.segment_bytes = segment_bytes;
    } else if (!is_one_message(collective, is_hierarchical)) {
        throw std::invalid_argument(with_article(collective) + " has blocks, and no segments");
    }
    return resolved;
}

}  // namespace isochrone::core::compose
