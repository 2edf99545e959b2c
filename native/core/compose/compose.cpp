// SPDX-License-Identifier: BSD-3-Clause
#include "compose/compose.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "compose/mapping.hpp"
#include "compose/tiers.hpp"
#include "place/window.hpp"
#include "schedule/builder.hpp"

namespace isochrone::core::compose {
namespace {

using algorithms::Data;
using collectives::Collective;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// A level that the topology has not, or that does not divide this communicator, is named by no rule that
/// fits it; naming one all the same is an error, so that a recipe never means something else than it says.
int level_index(const place::Layout& layout, const Part& part) {
    const int level = layout.level(part.level);
    if (level < 0) throw std::invalid_argument("the topology has no level '" + part.level + "'");
    return level;
}

Setting find_setting(const Collective& collective, algorithms::Table table, const Choice& choice,
                     bool in_order) {
    const std::string what = std::string(collective.words) + " '" + choice.algorithm + "'";
    const auto* row = algorithms::find(table, choice.algorithm);
    if (row == nullptr) throw std::invalid_argument("there is no " + what);
    if (choice.parameter == 1 || (choice.parameter != 0 && row->default_parameter == 0)) {
        throw std::invalid_argument(what + " takes no parameter " + std::to_string(choice.parameter));
    }
    if (in_order && row->commutative_only)
        throw std::invalid_argument(what + " does not keep the order of ranks");
    return {row, choice.parameter == 0 ? row->default_parameter : choice.parameter};
}

/// Whether every group of a level is a run of consecutive ranks.
bool has_consecutive_groups(const std::vector<int>& group_of) {
    std::vector<int> seen;
    for (std::size_t rank = 0; rank < group_of.size(); ++rank) {
        if (rank > 0 && group_of[rank] == group_of[rank - 1]) continue;
        if (std::find(seen.begin(), seen.end(), group_of[rank]) != seen.end()) return false;
        seen.push_back(group_of[rank]);
    }
    return true;
}

bool is_mapped(Recipe::Kind kind) {
    return kind == Recipe::Kind::depth_first || kind == Recipe::Kind::breadth_first;
}

class Composer {
  public:
    Composer(const Resolved& resolved, const place::Layout& layout, int rank, int root, bool in_place)
        : resolved_(resolved), layout_(layout), rank_(rank), builder_(layout.size, rank) {
        const Collective& collective = *resolved.collective;
        // In order, operands come together on the first rank, which passes the result on.
        passes_on_ = collective.rooted && resolved.in_order && root != 0;
        top_ = passes_on_ ? 0 : root;
        root_ = root;
        data_.in_order = resolved.in_order;
        if (!collective.reduces) return;
        const bool has_output = !collective.rooted || rank == root;
        data_.value = has_output && in_place ? schedule::output_buffer : schedule::input_buffer;
        data_.result = has_output && !passes_on_ ? schedule::output_buffer : -1;
    }

    schedule::Schedule build() {
        const std::int64_t segment_bytes = resolved_.recipe.segment_bytes;
        // Temporaries hold as many segments as messages may be under way.
        builder_.stage(segment_bytes > 0, place::window(layout_, segment_bytes));
        if (resolved_.recipe.kind == Recipe::Kind::hierarchical) {
            follow_tree();
        } else {
            append(resolved_.up.front(), everybody());
        }
        if (passes_on_ && rank_ == 0) builder_.send(root_, builder_.whole(data_.value));
        if (passes_on_ && rank_ == root_) {
            builder_.recv(0, builder_.whole(schedule::output_buffer));
        } else if (resolved_.collective->reduces && (!resolved_.collective->rooted || rank_ == root_)) {
            data_.result = schedule::output_buffer;
            data_.settle(builder_);
        }
        return builder_.finish();
    }

  private:
    void append(const Setting& setting, const algorithms::Group& group) {
        setting.algorithm->append(builder_, group, data_, setting.parameter);
    }

    void follow_tree() {
        const auto mine = tiers(layout_, resolved_.levels, rank_, top_);
        const auto part_of = [&](const Tier& tier) {
            const auto level = std::find(resolved_.levels.begin(), resolved_.levels.end(), tier.level);
            return static_cast<std::size_t>(level - resolved_.levels.begin());
        };
        const Collective& collective = *resolved_.collective;
        for (auto tier = mine.rbegin(); tier != mine.rend(); ++tier) {
            const std::size_t part = part_of(*tier);
            if (part == 0 || collective.up != nullptr) append_or_call(resolved_.up[part], *tier);
        }
        // What a leader has is what is passed down.
        if (collective.up != nullptr && collective.down != nullptr && leads_down(mine))
            data_.settle(builder_);
        if (collective.down == nullptr) return;
        for (const Tier& tier : mine) {
            const std::size_t part = part_of(tier);
            if (part > 0) append_or_call(resolved_.down[part], tier);
        }
    }

    /// Whether this rank takes part in the outermost tier, or there is none: then it leads all.
    [[nodiscard]] bool leads_down(const std::vector<Tier>& mine) const {
        return rank_ == top_ || (!mine.empty() && mine.front().level == resolved_.levels.front());
    }

    void append_or_call(const Setting& setting, const Tier& tier) {
        if (setting.algorithm != nullptr) {
            append(setting, tier.group);
        } else {
            builder_.library_bcast(tier.level, tier.group.rank_at(0), builder_.whole(data_.value));
        }
    }

    [[nodiscard]] algorithms::Group everybody() const {
        algorithms::Group group;
        const Recipe::Kind kind = resolved_.recipe.kind;
        if (kind == Recipe::Kind::ordered) {
            group.ranks = tree_order(layout_, top_);
        } else if (is_mapped(kind)) {
            const auto& [algorithm, parameter] = resolved_.up.front();
            group.ranks = mapped(layout_, algorithm->tree, parameter, top_,
                                 kind == Recipe::Kind::depth_first ? Walk::depth_first : Walk::breadth_first);
        } else {
            group.ranks.resize(at(layout_.size));
            std::iota(group.ranks.begin(), group.ranks.end(), 0);
        }
        const auto position = [&](int rank) {
            return static_cast<int>(std::find(group.ranks.begin(), group.ranks.end(), rank) -
                                    group.ranks.begin());
        };
        group.root = position(top_);
        group.me = position(rank_);
        return group;
    }

    const Resolved& resolved_;
    const place::Layout& layout_;
    int rank_;
    int root_ = 0;
    int top_ = 0;  ///< where all comes together, or begins
    bool passes_on_ = false;
    schedule::Builder builder_;
    Data data_;
};

}  // namespace

Resolved resolve(const Collective& collective, const Recipe& recipe, const place::Layout& layout,
                 bool in_order) {
    Resolved resolved{.collective = &collective,
                      .recipe = recipe,
                      .in_order = in_order,
                      .levels = {},
                      .up = {},
                      .down = {}};
    const auto take_segment = [&](const Setting& setting) {
        if (recipe.segment_bytes > 0 || setting.algorithm == nullptr) return;
        resolved.recipe.segment_bytes =
            std::max(resolved.recipe.segment_bytes, setting.algorithm->default_segment);
    };
    for (std::size_t i = 0; i < recipe.parts.size(); ++i) {
        const Part& part = recipe.parts[i];
        const bool is_across = i == 0;
        if (recipe.kind == Recipe::Kind::hierarchical) {
            const int level = level_index(layout, part);
            if (!resolved.levels.empty() && level <= resolved.levels.back()) {
                throw std::invalid_argument("level '" + part.level +
                                            "' is not inside the one named before it");
            }
            if (in_order && !has_consecutive_groups(layout.group_of[at(level)])) {
                throw std::invalid_argument("the groups of level '" + part.level +
                                            "' are no runs of consecutive ranks, whose order is to be kept");
            }
            resolved.levels.push_back(level);
        } else if (in_order && recipe.kind != Recipe::Kind::flat) {
            throw std::invalid_argument("the order of the tree is not that of ranks, which is to be kept");
        }
        Setting up;
        Setting down;
        const bool has_two = !is_across && collective.up != nullptr && collective.down != nullptr;
        if (!part.down.algorithm.empty() && !has_two) {
            throw std::invalid_argument("a " + std::string(collective.words) + " has no two ways at '" +
                                        part.choice.algorithm + "+" + part.down.algorithm + "'");
        }
        if (part.choice.algorithm == native_name || part.down.algorithm == native_name) {
            if (recipe.kind != Recipe::Kind::hierarchical || i + 1 < recipe.parts.size()) {
                throw std::invalid_argument("'native' can only stand at the innermost level of a recipe");
            }
            if (collective.up != nullptr) {
                throw std::invalid_argument("'native' cannot stand inside a recipe for a " +
                                            std::string(collective.words));
            }
        } else if (is_across) {
            up = find_setting(collective, collective.across(), part.choice, in_order);
            if (is_mapped(recipe.kind) && up.algorithm->tree == nullptr) {
                throw std::invalid_argument("a " + std::string(collective.words) + " '" +
                                            part.choice.algorithm + "' has no tree to lay over the network");
            }
        } else {
            if (collective.up != nullptr)
                up = find_setting(collective, collective.up(), part.choice, in_order);
            if (collective.down != nullptr) {
                const bool is_named = !part.down.algorithm.empty();
                down = find_setting(collective, collective.down(), is_named ? part.down : part.choice, false);
            }
        }
        take_segment(up);
        take_segment(down);
        resolved.up.push_back(up);
        resolved.down.push_back(down);
    }
    if (!resolved.levels.empty()) {
        const auto& outermost = layout.group_of[at(resolved.levels.front())];
        if (std::any_of(outermost.begin(), outermost.end(), [](int group) { return group != 0; })) {
            throw std::invalid_argument("level '" + recipe.parts.front().level + "' does not hold all ranks");
        }
    }
    return resolved;
}

schedule::Schedule schedule_of(const Resolved& resolved, const place::Layout& layout, int rank, int root,
                               bool in_place) {
    return Composer(resolved, layout, rank, root, in_place).build();
}

}  // namespace isochrone::core::compose
