// SPDX-License-Identifier: BSD-3-Clause
#include "place/delays.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "place/layout.hpp"

namespace isochrone::core::place {
namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();
/// Trees are made once for all sizes: large enough for the gap to count, as recipes for smaller messages
/// gain little from fast cables.
constexpr std::int64_t message_bytes = 65536;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

float median(std::vector<float>& values) {
    if (values.empty()) return 1;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Replaces Gb/s by seconds: L + g(m), with the gap of a pair in the ratio of the usual speed of its level to
/// its own.
void make_times(const Layout& layout, std::vector<float>& speeds, std::size_t hosts) {
    std::vector<int> rank_on(hosts, -1);
    for (int rank = layout.size - 1; rank >= 0; --rank) rank_on[at(layout.host_of[at(rank)])] = rank;
    std::vector<int> level_of(speeds.size(), -1);
    std::vector<std::vector<float>> of_level(layout.levels.size());
    for (std::size_t a = 0; a < hosts; ++a) {
        for (std::size_t b = 0; b < hosts; ++b) {
            if (a == b || rank_on[a] < 0 || rank_on[b] < 0) continue;
            // Hosts that no level joins are as far from each other as the outermost says.
            const int level = std::max(0, layout.meet(rank_on[a], rank_on[b]));
            level_of[a * hosts + b] = level;
            if (speeds[a * hosts + b] > 0) of_level[at(level)].push_back(speeds[a * hosts + b]);
        }
    }
    std::vector<float> usual;
    for (auto& found : of_level) usual.push_back(median(found));
    for (std::size_t pair = 0; pair < speeds.size(); ++pair) {
        const int level = level_of[pair];
        if (level < 0) continue;
        const auto& links = layout.links[at(level)];
        const auto gap_s = static_cast<float>(links.gap_s.at(message_bytes));
        const float speed = speeds[pair];
        speeds[pair] =
            speed > 0 ? static_cast<float>(links.latency_s) + gap_s * usual[at(level)] / speed : infinite;
    }
}

}  // namespace

void set_delays(Layout& layout, std::vector<int> host_of, DelayBy by, std::vector<float> figures) {
    const auto last = std::max_element(host_of.begin(), host_of.end());
    const std::size_t hosts = last == host_of.end() ? 0 : at(*last) + 1;
    if (host_of.size() != at(layout.size) || figures.size() != hosts * hosts)
        throw std::invalid_argument("delays are not of the hosts that ranks are on");
    layout.host_of = std::move(host_of);
    if (by == DelayBy::speed) {
        for (float& figure : figures) figure = figure > 0 ? 1 / figure : infinite;
    } else if (by == DelayBy::time) {
        if (layout.levels.empty()) throw std::invalid_argument("times need a level that was measured");
        make_times(layout, figures, hosts);
    }
    layout.delays = std::make_shared<const Delays>(Delays{hosts, std::move(figures)});
}

}  // namespace isochrone::core::place
