// SPDX-License-Identifier: BSD-3-Clause
#include "place/hardware.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace isochrone::core::place {
namespace {

struct Class {
    double latency_s;
    double overhead_s;
    double bytes_per_s;
};

constexpr Class between_nodes{25e-6, 2e-6, 1.2e9};
constexpr Class between_sockets{1e-6, 2e-7, 5e9};
constexpr Class in_memory{5e-7, 2e-7, 8e9};
constexpr Class in_cache{3e-7, 2e-7, 10e9};

plogp::Parameters parameters(const Class& links) {
    constexpr std::int64_t large = std::int64_t{1} << 20;
    const double last_s = links.overhead_s + static_cast<double>(large) / links.bytes_per_s;
    return {.latency_s = links.latency_s,
            .send_overhead_s = {{{0, links.overhead_s}}},
            .receive_overhead_s = {{{0, links.overhead_s}}},
            .gap_s = {{{0, links.overhead_s}, {large, last_s}}},
            .capacity_bytes_per_s = 0};
}

}  // namespace

Layout of_hardware(const std::vector<Seat>& seats) {
    using Label = std::pair<std::string, std::vector<int>>;
    Layout layout;
    layout.size = static_cast<int>(seats.size());
    /// Adds a level, unless it divides the ranks as the one before does.
    const auto add = [&](const char* name, auto&& label_of) {
        std::map<Label, int> numbers;
        std::vector<int> groups;
        for (const Seat& seat : seats)
            groups.push_back(
                numbers.try_emplace(label_of(seat), static_cast<int>(numbers.size())).first->second);
        if (!layout.group_of.empty() && layout.group_of.back() == groups) return false;
        layout.levels.emplace_back(name);
        layout.group_of.push_back(std::move(groups));
        return true;
    };
    const bool one_host = std::all_of(seats.begin(), seats.end(),
                                      [&](const Seat& seat) { return seat.host == seats.front().host; });
    if (!one_host) {
        add("machine", [](const Seat&) { return Label{}; });
        layout.links.push_back(parameters(between_nodes));
    }
    if (add("node", [](const Seat& seat) { return Label{seat.host, {}}; }))
        layout.links.push_back(parameters(between_sockets));
    for (std::size_t level = 0; level < inner_levels.size(); ++level) {
        const auto label = [&](const Seat& seat) {
            return Label{seat.host, {seat.inner.begin(), seat.inner.begin() + static_cast<long>(level) + 1}};
        };
        const bool is_new = add(inner_levels[level], label);
        if (is_new)
            layout.links.push_back(parameters(level + 1 < inner_levels.size() ? in_memory : in_cache));
    }
    return layout;
}

double near_below_s(std::vector<double> rtts_s) {
    constexpr double least_ratio = 2;
    std::sort(rtts_s.begin(), rtts_s.end());
    double largest = least_ratio;
    double below_s = 0;
    for (std::size_t i = 1; i < rtts_s.size(); ++i) {
        if (rtts_s[i] < largest * rtts_s[i - 1]) continue;
        largest = rtts_s[i] / rtts_s[i - 1];
        below_s = std::sqrt(rtts_s[i] * rtts_s[i - 1]);
    }
    return below_s;
}

void add_switches(Layout& layout, const std::vector<int>& group_of_node, plogp::Parameters links) {
    const auto node = layout.level("node");
    const std::set<int> groups(group_of_node.begin(), group_of_node.end());
    if (node < 1 || groups.size() < 2 || groups.size() == group_of_node.size()) return;
    std::vector<int> group_of;
    for (const int at : layout.group_of[static_cast<std::size_t>(node)])
        group_of.push_back(group_of_node[static_cast<std::size_t>(at)]);
    layout.levels.insert(layout.levels.begin() + node, "switch");
    layout.group_of.insert(layout.group_of.begin() + node, std::move(group_of));
    layout.links.insert(layout.links.begin() + node, std::move(links));
}

plogp::Parameters links_of(double empty_rtt_s, std::int64_t size_bytes, double rtt_s) {
    const double latency_s = empty_rtt_s / 2;
    // Half of an empty round trip holds the overheads of both sides.
    const double overhead_s = std::min(between_nodes.overhead_s, latency_s / 4);
    const double gap_s = std::max(overhead_s, rtt_s / 2 - latency_s);
    return {.latency_s = latency_s,
            .send_overhead_s = {{{0, overhead_s}}},
            .receive_overhead_s = {{{0, overhead_s}}},
            .gap_s = {{{0, overhead_s}, {size_bytes, gap_s}}},
            .capacity_bytes_per_s = 0};
}

}  // namespace isochrone::core::place
