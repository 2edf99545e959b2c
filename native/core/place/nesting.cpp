// SPDX-License-Identifier: BSD-3-Clause
#include "place/nesting.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <set>
#include <utility>

namespace isochrone::core::place {
namespace {

using Digest = std::uint64_t;

/// The groups of one level, and the ranks of each.
struct Level {
    std::vector<std::size_t> around;  ///< [group], of the level before; the outermost: 0
    std::vector<int> sizes;           ///< [group]
};
using Nest = std::vector<Level>;  // outermost first

/// FNV-1a over the bytes of some numbers.
Digest digest_of(const std::vector<Digest>& numbers) {
    Digest sum = 0xcbf29ce484222325;
    for (const Digest number : numbers) {
        for (unsigned bit = 0; bit < 64; bit += 8) sum = (sum ^ (number >> bit & 0xff)) * 0x100000001b3;
    }
    return sum;
}

std::string in_hex(Digest digest) {
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(digest));
    return text.data();
}

/// The groups of each rank, [level][rank], numbered from 0 in the order in which ranks come to them.
std::vector<std::vector<std::size_t>> numbered(const GroupsOfLevels& levels) {
    std::vector<std::vector<std::size_t>> result;
    for (const auto* groups : levels) {
        std::unordered_map<int, std::size_t> numbers;
        auto& own = result.emplace_back();
        for (const int group : *groups)
            own.push_back(numbers.try_emplace(group, numbers.size()).first->second);
    }
    return result;
}

Nest nest_of(const std::vector<std::vector<std::size_t>>& groups) {
    Nest nest;
    for (std::size_t l = 0; l < groups.size(); ++l) {
        Level& level = nest.emplace_back();
        for (std::size_t rank = 0; rank < groups[l].size(); ++rank) {
            const std::size_t group = groups[l][rank];
            if (group >= level.sizes.size()) {
                level.sizes.resize(group + 1);
                level.around.resize(group + 1);
            }
            ++level.sizes[group];
            level.around[group] = l > 0 ? groups[l - 1][rank] : 0;
        }
    }
    return nest;
}

/// The most even way for groups of these sizes; nothing where the largest do not fit so.
std::optional<Nest> most_even(const Nest& sizes) {
    Nest nest;
    for (const Level& level : sizes) {
        Level even{{}, level.sizes};
        std::sort(even.sizes.begin(), even.sizes.end(), std::greater<>());
        if (nest.empty()) {
            even.around.assign(even.sizes.size(), 0);
        } else {
            std::set<std::pair<int, std::size_t>> room;  // what is taken of it, below 0, and the group around
            for (const int size : nest.back().sizes) room.emplace(-size, room.size());
            for (const int size : even.sizes) {
                const auto [left, around] = *room.begin();
                if (-left < size) return {};
                room.erase(room.begin());
                room.emplace(left + size, around);
                even.around.push_back(around);
            }
        }
        nest.push_back(std::move(even));
    }
    return nest;
}

/// [level][group]: equal for groups with the same inside. The last, beyond all levels, is of the whole.
std::vector<std::vector<Digest>> insides(const Nest& nest) {
    std::vector<std::vector<Digest>> result(nest.size() + 1);
    std::vector<std::vector<Digest>> inner;  // of each group, what is inside it
    for (std::size_t l = nest.size(); l-- > 0;) {
        const Level& level = nest[l];
        inner.resize(level.sizes.size());
        for (std::size_t group = 0; group < level.sizes.size(); ++group) {
            std::sort(inner[group].begin(), inner[group].end());
            inner[group].push_back(static_cast<Digest>(level.sizes[group]));
            result[l].push_back(digest_of(inner[group]));
        }
        std::vector<std::vector<Digest>> outer(l > 0 ? nest[l - 1].sizes.size() : 1);
        for (std::size_t group = 0; group < level.sizes.size(); ++group)
            outer[level.around[group]].push_back(result[l][group]);
        inner = std::move(outer);
    }
    if (inner.empty()) inner.emplace_back();
    std::sort(inner.front().begin(), inner.front().end());
    result.back().push_back(digest_of(inner.front()));
    return result;
}

/// Whether all groups of each level have one size: then there is one way.
bool are_all_alike(const Nest& nest) {
    return std::all_of(nest.begin(), nest.end(), [](const Level& level) {
        return std::all_of(level.sizes.begin(), level.sizes.end(),
                           [&](int size) { return size == level.sizes.front(); });
    });
}

}  // namespace

Nesting::Nesting(const GroupsOfLevels& levels) {
    // The groups of one level alone are their sizes.
    if (levels.size() < 2) return;
    const auto groups = numbered(levels);
    const Nest nest = nest_of(groups);
    if (are_all_alike(nest)) return;
    const auto inside = insides(nest);
    const Digest whole = inside.back().front();
    const auto even = most_even(nest);
    if (!even || insides(*even).back().front() != whole) whole_ = in_hex(whole);
    // Two can change places if at each level the insides of their groups are alike.
    const std::size_t ranks = groups.front().size();
    std::vector<Digest> sizes(nest.size());
    std::vector<Digest> insides_of(nest.size());
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        for (std::size_t l = 0; l < nest.size(); ++l) {
            sizes[l] = static_cast<Digest>(nest[l].sizes[groups[l][rank]]);
            insides_of[l] = inside[l][groups[l][rank]];
        }
        by_sizes_.push_back(digest_of(sizes));
        by_insides_.push_back(digest_of(insides_of));
    }
    std::unordered_map<Digest, Digest> first;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const auto& known = first.try_emplace(by_sizes_[rank], by_insides_[rank]).first->second;
        is_one_place_.try_emplace(by_sizes_[rank], true).first->second &= known == by_insides_[rank];
    }
}

std::string Nesting::place(int rank) const {
    if (by_sizes_.empty()) return {};
    const auto own = static_cast<std::size_t>(rank);
    return is_one_place_.at(by_sizes_[own]) ? std::string() : in_hex(by_insides_[own]);
}

}  // namespace isochrone::core::place
