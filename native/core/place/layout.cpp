// SPDX-License-Identifier: BSD-3-Clause
#include "place/layout.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>

#include "place/nesting.hpp"

namespace isochrone::core::place {
namespace {

using topology::Place;
using topology::Topology;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// "0-2,5" as {0, 1, 2, 5}. What is not such a list, or one of more CPUs than a machine has, is an empty set.
std::set<int> cpu_set(const std::string& list) {
    constexpr int most = 65536;
    std::set<int> cpus;
    int total = 0;
    std::size_t position = 0;
    const auto number = [&]() {
        int value = -1;
        while (position < list.size() && list[position] >= '0' && list[position] <= '9' && value < most) {
            value = std::max(value, 0) * 10 + (list[position++] - '0');
        }
        return value;
    };
    while (position < list.size()) {
        const int first = number();
        int last = first;
        if (position < list.size() && list[position] == '-') {
            ++position;
            last = number();
        }
        if (first < 0 || last < first || last > most || (total += last - first + 1) > most) return {};
        for (int cpu = first; cpu <= last; ++cpu) cpus.insert(cpu);
        if (position < list.size() && list[position++] != ',') return {};
    }
    return cpus;
}

class Matcher {
  public:
    explicit Matcher(const Topology& topology) : topology_(topology) {
        group_of_.resize(topology.levels.size(), std::vector<int>(topology.places.size()));
        for (std::size_t l = 0; l < topology.levels.size(); ++l) {
            const auto& groups = topology.levels[l].groups;
            for (std::size_t g = 0; g < groups.size(); ++g) {
                for (const int place : groups[g]) group_of_[l][at(place)] = static_cast<int>(g);
            }
        }
        for (std::size_t p = 0; p < topology.places.size(); ++p) {
            of_host_[topology.places[p].host].push_back(static_cast<int>(p));
            host_of_signature_.try_emplace(topology.places[p].signature, topology.places[p].host);
        }
    }

    /// A text for each level; ranks with equal texts are in one group.
    std::vector<std::string> labels(const Place& rank) const {
        const bool known = of_host_.contains(rank.host);
        const auto like = host_of_signature_.find(rank.signature);
        if (!known && (rank.signature.empty() || like == host_of_signature_.end())) {
            throw std::invalid_argument("host '" + rank.host + "' was not surveyed, and none like it was");
        }
        const std::vector<int>& places = of_host_.at(known ? rank.host : like->second);
        const std::string prefix = known ? "" : rank.host + ":";
        std::vector<std::string> result;
        for (std::size_t l = 0; l < topology_.levels.size(); ++l) {
            const auto& group_of = group_of_[l];
            const int group = group_of[at(places.front())];
            const bool holds_host = std::all_of(places.begin(), places.end(),
                                                [&](int place) { return group_of[at(place)] == group; });
            if (l == 0) {
                result.emplace_back("all");
            } else if (holds_host) {
                result.push_back(prefix + std::to_string(group));
            } else {
                const int inner = group_by_cpus(places, group_of, rank.cpus);
                result.push_back(inner < 0 ? result.back() + "?" : prefix + std::to_string(inner));
            }
        }
        return result;
    }

  private:
    /// The group among the host's that the binding lies in, or -1.
    int group_by_cpus(const std::vector<int>& places, const std::vector<int>& group_of,
                      const std::string& cpus) const {
        for (const int place : places) {
            if (topology_.places[at(place)].cpus == cpus) return group_of[at(place)];
        }
        const std::set<int>& wanted = cpus_of(cpus);
        if (wanted.empty()) return -1;
        std::map<int, std::set<int>> cpus_of_group;
        for (const int place : places) {
            const std::set<int>& held = cpus_of(topology_.places[at(place)].cpus);
            cpus_of_group[group_of[at(place)]].insert(held.begin(), held.end());
        }
        for (const auto& [group, held] : cpus_of_group) {
            if (std::includes(held.begin(), held.end(), wanted.begin(), wanted.end())) return group;
        }
        return -1;
    }

    /// It is asked for once for each level and rank.
    const std::set<int>& cpus_of(const std::string& list) const {
        const auto known = cpus_of_.find(list);
        return known != cpus_of_.end() ? known->second : cpus_of_.emplace(list, cpu_set(list)).first->second;
    }

    const Topology& topology_;
    mutable std::map<std::string, std::set<int>> cpus_of_;
    std::vector<std::vector<int>> group_of_;  // [level][place]
    std::map<std::string, std::vector<int>> of_host_;
    std::map<std::string, std::string> host_of_signature_;
};

/// What begins the part of a shape that says where the root is.
constexpr std::string_view root_part = "; root in ";

/// Levels that divide the ranks, without those that divide them as the one before does.
struct Divisions {
    std::string whole;                ///< name of the innermost level that holds all ranks
    std::vector<std::size_t> levels;  ///< outermost first
};

Divisions divisions(const Layout& layout) {
    Divisions result{layout.levels.empty() ? "" : layout.levels.front(), {}};
    const std::vector<int>* before = nullptr;
    for (std::size_t l = 0; l < layout.levels.size(); ++l) {
        const auto& group_of = layout.group_of[l];
        if (std::adjacent_find(group_of.begin(), group_of.end(), std::not_equal_to<>()) == group_of.end()) {
            result.whole = layout.levels[l];
        } else if (before == nullptr || *before != group_of) {
            before = &group_of;
            result.levels.push_back(l);
        }
    }
    return result;
}

/// Number of groups of each size, the largest first: "2x4+1x2".
std::string sizes(const std::vector<int>& group_of) {
    std::map<int, int> members;
    for (const int group : group_of) ++members[group];
    std::map<int, int, std::greater<>> groups_of_size;
    for (const auto& [group, size] : members) ++groups_of_size[size];
    std::string result;
    for (const auto& [size, groups] : groups_of_size) {
        result += (result.empty() ? "" : "+") + std::to_string(groups) + "x" + std::to_string(size);
    }
    return result;
}

}  // namespace

int Layout::level(std::string_view name) const {
    const auto found = std::find(levels.begin(), levels.end(), name);
    return found == levels.end() ? -1 : static_cast<int>(found - levels.begin());
}

int Layout::meet(int rank_a, int rank_b) const {
    int result = -1;
    for (std::size_t l = 0; l < group_of.size() && group_of[l][at(rank_a)] == group_of[l][at(rank_b)]; ++l) {
        result = static_cast<int>(l);
    }
    return result;
}

namespace {

/// Whether the ranks go through their groups one after the other.
bool are_runs(std::span<const int> ranks, const std::vector<int>& group_of) {
    std::set<int> seen;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const int group = group_of[at(ranks[i])];
        if (i > 0 && group == group_of[at(ranks[i - 1])]) continue;
        if (!seen.insert(group).second) return false;
    }
    return true;
}

}  // namespace

bool Layout::has_runs(int level) const {
    std::vector<int> ranks(at(size));
    std::iota(ranks.begin(), ranks.end(), 0);
    return are_runs(ranks, group_of[at(level)]);
}

Layout Layout::restricted_to(const std::vector<int>& ranks) const {
    Layout result{static_cast<int>(ranks.size()), levels, {}, links, delays};
    if (delays != nullptr) {
        for (const int rank : ranks) result.host_of.push_back(host_of[at(rank)]);
    }
    for (const auto& groups : group_of) {
        std::map<int, int> renumbered;
        auto& mine = result.group_of.emplace_back();
        for (const int rank : ranks) {
            mine.push_back(
                renumbered.try_emplace(groups[at(rank)], static_cast<int>(renumbered.size())).first->second);
        }
    }
    return result;
}

Layout match(const Topology& topology, const std::vector<Place>& ranks) {
    const Matcher matcher(topology);
    Layout layout;
    layout.size = static_cast<int>(ranks.size());
    for (const auto& level : topology.levels) {
        layout.levels.push_back(level.name);
        layout.links.push_back(level.links);
    }
    layout.group_of.resize(topology.levels.size());
    std::vector<std::map<std::string, int>> numbers(topology.levels.size());
    for (const Place& rank : ranks) {
        const auto labels = matcher.labels(rank);
        for (std::size_t l = 0; l < labels.size(); ++l) {
            layout.group_of[l].push_back(
                numbers[l].try_emplace(labels[l], static_cast<int>(numbers[l].size())).first->second);
        }
    }
    return layout;
}

namespace {

GroupsOfLevels groups_of(const Layout& layout, const Divisions& divided) {
    GroupsOfLevels result;
    for (const std::size_t l : divided.levels) result.push_back(&layout.group_of[l]);
    return result;
}

std::string of_sizes(const Layout& layout, const Divisions& divided, const Nesting& nesting) {
    std::string result = std::to_string(layout.size) + " ranks in one " + divided.whole;
    for (const std::size_t l : divided.levels) {
        result += "; " + layout.levels[l] + " " + sizes(layout.group_of[l]);
    }
    return nesting.whole().empty() ? result : result + "; nested " + nesting.whole();
}

/// [division][rank]: the size of the rank's group.
std::vector<std::vector<int>> sizes_of_groups(const Layout& layout, const Divisions& divided) {
    std::vector<std::vector<int>> result;
    for (const std::size_t l : divided.levels) {
        std::map<int, int> members;
        for (const int group : layout.group_of[l]) ++members[group];
        auto& own = result.emplace_back();
        for (const int group : layout.group_of[l]) own.push_back(members[group]);
    }
    return result;
}

std::vector<std::string> shapes_of(const Layout& layout, int first, int last) {
    const Divisions divided = divisions(layout);
    const Nesting nesting(groups_of(layout, divided));
    const std::string whole = of_sizes(layout, divided, nesting);
    const auto sizes = sizes_of_groups(layout, divided);
    std::vector<std::string> result;
    for (int root = first; root < last; ++root) {
        std::string text = whole;
        for (const auto& of_level : sizes) {
            text += &of_level == &sizes.front() ? root_part : "/";
            text += std::to_string(of_level[at(root)]);
        }
        const std::string place = nesting.place(root);
        result.push_back(place.empty() ? text : text + " of " + place);
    }
    return result;
}

}  // namespace

std::string shape(const Layout& layout) {
    const Divisions divided = divisions(layout);
    return of_sizes(layout, divided, Nesting(groups_of(layout, divided)));
}

std::vector<std::string> shapes(const Layout& layout) { return shapes_of(layout, 0, layout.size); }

std::string shape(const Layout& layout, int root) { return shapes_of(layout, root, root + 1).front(); }

namespace {

using Scopes = std::vector<std::vector<int>>;  // ranks, ascending

/// The ranks of each scope by the groups of a level.
Scopes divided(const Scopes& scopes, const std::vector<int>& group_of) {
    Scopes result;
    for (const auto& ranks : scopes) {
        std::map<int, std::vector<int>> groups;
        for (const int rank : ranks) groups[group_of[at(rank)]].push_back(rank);
        for (auto& [group, members] : groups) result.push_back(std::move(members));
    }
    return result;
}

/// Whether the ranks are dealt out in turn to the groups of the last of some levels, and the first round goes
/// through the groups of the levels around it one after the other.
bool are_dealt(std::span<const int> ranks, const Layout& layout, std::span<const std::size_t> levels) {
    const auto& innermost = layout.group_of[levels.back()];
    std::map<int, std::size_t> turn_of;  // by group
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const int group = innermost[at(ranks[i])];
        if (turn_of.size() == i && turn_of.try_emplace(group, i).second) continue;
        const auto known = turn_of.find(group);
        if (known == turn_of.end() || known->second != i % turn_of.size()) return false;
    }
    const auto leaders = ranks.first(turn_of.size());
    return std::all_of(levels.begin(), levels.end(),
                       [&](std::size_t level) { return are_runs(leaders, layout.group_of[level]); });
}

std::string digest(const Layout& layout, std::span<const std::size_t> levels) {
    std::uint64_t sum = 0xcbf29ce484222325;  // FNV-1a
    for (const std::size_t level : levels) {
        std::map<int, int> numbers;  // by first appearance
        for (const int group : layout.group_of[level]) {
            const int number = numbers.try_emplace(group, static_cast<int>(numbers.size())).first->second;
            sum = (sum ^ static_cast<std::uint64_t>(number)) * 0x100000001b3;
        }
        sum = (sum ^ 0xff) * 0x100000001b3;
    }
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "order-%016llx", static_cast<unsigned long long>(sum));
    return text.data();
}

}  // namespace

std::string order(const Layout& layout) {
    const std::vector<std::size_t> levels = divisions(layout).levels;
    Scopes scopes(1, std::vector<int>(at(layout.size)));
    std::iota(scopes.front().begin(), scopes.front().end(), 0);
    std::vector<std::string> parts;
    for (std::size_t level = 0; level < levels.size();) {
        const auto in_all = [&](auto&& holds) { return std::all_of(scopes.begin(), scopes.end(), holds); };
        std::size_t count = 1;
        if (in_all([&](const auto& ranks) { return are_runs(ranks, layout.group_of[levels[level]]); })) {
            // Blocks of blocks are one word, as they are where an outer level is not there.
            if (parts != std::vector<std::string>{"block"}) parts.emplace_back("block");
        } else {
            const auto rest = std::span(levels).subspan(level);
            const auto dealt = [&](std::size_t many) {
                return in_all([&](const auto& ranks) { return are_dealt(ranks, layout, rest.first(many)); });
            };
            count = rest.size();
            while (count > 0 && !dealt(count)) --count;
            if (count == 0) return digest(layout, levels);
            parts.push_back(count > 1 && count < levels.size() ? "cyclic" + std::to_string(count) : "cyclic");
        }
        level += count;
        scopes = divided(scopes, layout.group_of[levels[level - 1]]);
    }
    if (parts.empty()) return "block";
    std::string result = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) result += ':' + parts[i];
    return result;
}

std::string_view without_root(std::string_view shape) { return shape.substr(0, shape.find(root_part)); }

}  // namespace isochrone::core::place
