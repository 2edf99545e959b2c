// SPDX-License-Identifier: BSD-3-Clause
#include "select/only.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <utility>

#include "collectives/collective.hpp"

namespace isochrone::core::select {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view separators = ", \t";
constexpr std::size_t most_shown = 60;

std::invalid_argument wrong(std::string_view what, const std::string& why) {
    return std::invalid_argument("'" + std::string(what.substr(0, most_shown)) + "' " + why);
}

std::int64_t parse_size(std::string_view text) {
    constexpr auto units = std::to_array<std::pair<std::string_view, int>>(
        {{"", 0}, {"K", 10}, {"KiB", 10}, {"M", 20}, {"MiB", 20}, {"G", 30}, {"GiB", 30}});
    std::int64_t number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
    const auto* known =
        std::find_if(units.begin(), units.end(), [&](const auto& one) { return one.first == unit; });
    const bool is_number = error == std::errc{} && number >= 0 && known != units.end();
    if (!is_number || number > largest >> known->second) {
        throw wrong(text, "is no size: write bytes, such as 512, 64K or 1M");
    }
    return number << known->second;
}

Kept parse_one(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view name = text.substr(0, colon);
    Kept kept{.collective = name == "all" ? "" : std::string(name), .min_bytes = 0, .max_bytes = largest};
    if (!kept.collective.empty() || name.empty()) {
        std::string names;
        for (const auto& collective : collectives::all()) names += ", " + std::string(collective.name);
        if (collectives::find(name) == nullptr) throw wrong(name, "is no collective: write all" + names);
    }
    if (colon == std::string_view::npos) return kept;
    const std::string_view range = text.substr(colon + 1);
    const std::size_t dash = range.find('-');
    if (dash == std::string_view::npos) {
        kept.min_bytes = kept.max_bytes = parse_size(range);
        return kept;
    }
    if (dash > 0) kept.min_bytes = parse_size(range.substr(0, dash));
    if (dash + 1 < range.size()) kept.max_bytes = parse_size(range.substr(dash + 1));
    if (kept.max_bytes < kept.min_bytes) throw wrong(range, "ends below its beginning");
    return kept;
}

}  // namespace

std::vector<Kept> parse_kept(std::string_view text) {
    std::vector<Kept> kept;
    for (std::size_t begin = text.find_first_not_of(separators); begin != std::string_view::npos;) {
        const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
        kept.push_back(parse_one(text.substr(begin, end - begin)));
        begin = text.find_first_not_of(separators, end);
    }
    if (kept.empty()) throw std::invalid_argument("no collective is named");
    return kept;
}

void keep_only(Plan& plan, const std::vector<Kept>& kept) {
    std::vector<Rule> rules;
    for (const Rule& rule : plan.rules) {
        std::vector<Kept> here;
        std::copy_if(kept.begin(), kept.end(), std::back_inserter(here), [&](const Kept& one) {
            return (one.collective.empty() || one.collective == rule.collective) &&
                   one.min_bytes <= rule.max_bytes && one.max_bytes >= rule.min_bytes;
        });
        std::sort(here.begin(), here.end(),
                  [](const Kept& a, const Kept& b) { return a.min_bytes < b.min_bytes; });
        const auto add = [&](std::int64_t min_bytes, std::int64_t max_bytes, bool left_out) {
            Rule part = rule;
            part.min_bytes = min_bytes;
            part.max_bytes = max_bytes;
            const bool had_one = rule.recipe.kind != compose::Recipe::Kind::native || rule.surveyed;
            if (left_out && had_one) {
                static_cast<Measured&>(part) = {};
                part.surveyed.reset();
                part.left_out = LeftOut::by_user;
            }
            rules.push_back(std::move(part));
        };
        bool is_done = false;  // up to the rule's end
        std::int64_t next = rule.min_bytes;
        for (const Kept& one : here) {
            if (is_done || one.max_bytes < next) continue;
            if (one.min_bytes > next) add(std::exchange(next, one.min_bytes), one.min_bytes - 1, true);
            const std::int64_t last = std::min(one.max_bytes, rule.max_bytes);
            add(next, last, false);
            is_done = last == rule.max_bytes;
            if (!is_done) next = last + 1;
        }
        if (!is_done) add(next, rule.max_bytes, true);
    }
    plan.rules = std::move(rules);
}

}  // namespace isochrone::core::select
