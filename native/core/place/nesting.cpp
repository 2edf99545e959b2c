// SPDX-License-Identifier: BSD-3-Clause
#include "place/nesting.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
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
        std::vector<std::pair<int, std::size_t>> first;  // group, and the first rank in it
        for (std::size_t rank = 0; rank < groups->size(); ++rank) first.emplace_back((*groups)[rank], rank);
        std::sort(first.begin(), first.end());
        first.erase(std::unique(first.begin(), first.end(),
                                [](const auto& one, const auto& other) { return one.first == other.first; }),
                    first.end());
        std::vector<std::size_t> number;
        for (const int group : *groups) {
            const auto found = std::lower_bound(first.begin(), first.end(), std::pair{group, std::size_t{0}});
            number.push_back(static_cast<std::size_t>(found - first.begin()));
        }
        result.push_back(std::move(number));
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
        std::vector<int> room;
        if (nest.empty()) {
            even.around.assign(even.sizes.size(), 0);
        } else {
            room = nest.back().sizes;
            for (const int size : even.sizes) {
                const auto most = std::max_element(room.begin(), room.end());
                if (*most < size) return {};
                *most -= size;
                even.around.push_back(static_cast<std::size_t>(most - room.begin()));
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

std::string nesting(const GroupsOfLevels& levels) {
    // The groups of one level alone are their sizes.
    if (levels.size() < 2) return {};
    const Nest nest = nest_of(numbered(levels));
    if (are_all_alike(nest)) return {};
    const Digest whole = insides(nest).back().front();
    const auto even = most_even(nest);
    return even && insides(*even).back().front() == whole ? std::string() : in_hex(whole);
}

std::string place_in_nesting(const GroupsOfLevels& levels, int rank) {
    if (levels.size() < 2) return {};
    const auto groups = numbered(levels);
    const Nest nest = nest_of(groups);
    if (are_all_alike(nest)) return {};
    const auto inside = insides(nest);
    // Two can change places if at each level the insides of their groups are alike.
    const auto path = [&](std::size_t of, const auto& what) {
        std::vector<Digest> result;
        for (std::size_t l = 0; l < nest.size(); ++l)
            result.push_back(static_cast<Digest>(what(l, groups[l][of])));
        return result;
    };
    const auto sizes = [&](std::size_t of) {
        return path(of, [&](std::size_t l, std::size_t group) { return nest[l].sizes[group]; });
    };
    const auto place = [&](std::size_t of) {
        return path(of, [&](std::size_t l, std::size_t group) { return inside[l][group]; });
    };
    const auto here = static_cast<std::size_t>(rank);
    const auto own = place(here);
    const auto own_sizes = sizes(here);
    for (std::size_t other = 0; other < groups.front().size(); ++other) {
        if (sizes(other) == own_sizes && place(other) != own) return in_hex(digest_of(own));
    }
    return {};
}

}  // namespace isochrone::core::place
