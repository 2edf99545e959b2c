// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/network.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace isochrone::core::simulate {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// Seconds that a pair needs for each further byte; 0 where the curve does not tell.
double slope(const plogp::Parameters& links) {
    const auto& points = links.gap_s.points;
    if (points.size() < 2) return 0;
    const plogp::Rendezvous rendezvous(links);
    const std::int64_t first_bytes = points.front().first;
    const std::int64_t last_bytes = points.back().first;
    return std::max(0.0, (rendezvous.busy_s(last_bytes) - rendezvous.busy_s(first_bytes)) /
                             static_cast<double>(last_bytes - first_bytes));
}

}  // namespace

std::vector<double> way_s_per_byte(const place::Layout& layout) {
    const int node = layout.level("node");
    std::vector<double> found(layout.levels.size(), 0.0);
    for (int level = 1; level < static_cast<int>(found.size()); ++level) {
        const plogp::Parameters& links = layout.links[at(level - 1)];
        if (links.capacity_bytes_per_s > 0) {
            found[at(level)] = 1 / links.capacity_bytes_per_s;
        } else if (level <= node) {
            found[at(level)] = slope(links);
        }
    }
    return found;
}

Network::Network(const place::Layout& layout) : layout_(layout), in_free_s_(at(layout.size), 0.0) {
    for (const plogp::Parameters& links : layout.links) rendezvous_.emplace_back(links);
    way_of_.resize(layout.levels.size());
    const std::vector<double> s_per_byte = way_s_per_byte(layout);
    for (int level = 1; level < static_cast<int>(layout.levels.size()); ++level) {
        if (s_per_byte[at(level)] <= 0) continue;
        const Way way{.level = level - 1,
                      .s_per_byte = s_per_byte[at(level)],
                      .measured = layout.links[at(level - 1)].capacity_bytes_per_s > 0};
        std::map<int, int> way_of_group;
        for (const int group : layout.group_of[at(level)]) {
            const auto [entry, is_new] = way_of_group.try_emplace(group, static_cast<int>(ways_.size()));
            if (is_new) ways_.insert(ways_.end(), 2, way);
            way_of_[at(level)].push_back(entry->second);
        }
    }
}

int Network::way_of(int level, int rank) const {
    const auto& ways = way_of_[at(level)];
    return ways.empty() ? -1 : ways[at(rank)];
}

Path Network::path(int from, int to) const {
    Path path{.to = to, .level = layout_.meet(from, to), .ways_out = {}, .ways_in = {}};
    if (path.level < 0) {
        throw std::invalid_argument("ranks " + std::to_string(from) + " and " + std::to_string(to) +
                                    " meet at no level of the topology");
    }
    for (int level = path.level + 1; level < static_cast<int>(way_of_.size()); ++level) {
        if (way_of_[at(level)].empty()) continue;
        path.ways_out.insert(path.ways_out.begin(), way_of(level, from));
        path.ways_in.push_back(way_of(level, to) + 1);
    }
    return path;
}

const plogp::Parameters& Network::links(const Path& path) const { return layout_.links[at(path.level)]; }

const plogp::Rendezvous& Network::rendezvous(const Path& path) const { return rendezvous_[at(path.level)]; }

double Network::occupied_s(const Way& way, std::int64_t size_bytes) const {
    const double time_s = static_cast<double>(size_bytes) * way.s_per_byte;
    return way.measured ? time_s : std::min(time_s, rendezvous_[at(way.level)].busy_s(size_bytes));
}

double Network::take(const std::vector<int>& ways, std::int64_t size_bytes, double& head_s) {
    double last_s = head_s;
    for (const int index : ways) {
        Way& way = ways_[at(index)];
        head_s = std::max(head_s, way.free_s);
        way.free_s = head_s + occupied_s(way, size_bytes);
        last_s = std::max(last_s, way.free_s);
    }
    return last_s;
}

Passage Network::leave(const Path& path, std::int64_t size_bytes, double at_s) {
    Passage passage{at_s, at_s + rendezvous(path).busy_s(size_bytes)};
    passage.drained_s = std::max(passage.drained_s, take(path.ways_out, size_bytes, passage.head_s));
    return passage;
}

double Network::arrive(const Path& path, std::int64_t size_bytes, const Passage& passage) {
    const double latency_s = links(path).latency_s;
    double head_s = passage.head_s + latency_s;
    const double through_s = take(path.ways_in, size_bytes, head_s);
    double& free_s = in_free_s_[at(path.to)];
    free_s = std::max(head_s, free_s) + rendezvous(path).busy_s(size_bytes);
    return std::max({free_s, through_s, passage.drained_s + latency_s});
}

}  // namespace isochrone::core::simulate
