// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/multisection.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "mapping/partition.hpp"

namespace isochrone::core::mapping {

namespace {

class Multisection {
  public:
    Multisection(const Graph& graph, const Places& places, const Effort& effort, Random& random)
        : graph_(graph), places_(places), effort_(effort), random_(random), at_(graph.first.size() - 1, 0) {}

    Assignment run() {
        std::vector<int> vertices(at_.size()), all(static_cast<std::size_t>(places_.count()));
        std::iota(vertices.begin(), vertices.end(), 0);
        std::iota(all.begin(), all.end(), 0);
        divide(vertices, all, 0);
        return std::move(at_);
    }

  private:
    /// The places of each part that the next levels divide a group into; `level` becomes that of the parts.
    std::vector<std::vector<int>> parts_of(const std::vector<int>& group, std::size_t& level) const {
        while (++level < places_.levels()) {
            std::vector<std::pair<int, int>> keyed;
            for (const int place : group) keyed.emplace_back(places_.group(level, place), place);
            std::sort(keyed.begin(), keyed.end());
            std::vector<std::vector<int>> parts;
            for (std::size_t i = 0; i < keyed.size(); ++i) {
                if (i == 0 || keyed[i].first != keyed[i - 1].first) parts.emplace_back();
                parts.back().push_back(keyed[i].second);
            }
            if (parts.size() > 1) return parts;
        }
        std::vector<std::vector<int>> single;
        for (const int place : group) single.push_back({place});
        return single;
    }

    void divide(const std::vector<int>& vertices, const std::vector<int>& group, std::size_t level) {
        if (vertices.empty()) return;
        if (group.size() == 1) {
            for (const int v : vertices) at_[static_cast<std::size_t>(v)] = group[0];
            return;
        }
        const std::size_t here = level;
        const auto parts = parts_of(group, level);
        std::vector<double> prices = places_.distances_of(level - 1, places_.group(level - 1, group[0]));
        if (level < places_.levels()) {
            std::vector<double> inside(prices.size(), 0.0);
            for (const auto& part : parts) {
                const auto distances = places_.distances_of(level, places_.group(level, part[0]));
                for (std::size_t t = 0; t < prices.size(); ++t)
                    inside[t] += distances[t] / static_cast<double>(parts.size());
            }
            for (std::size_t t = 0; t < prices.size(); ++t) prices[t] = std::max(0.0, prices[t] - inside[t]);
        }
        Graph graph = induced(graph_, vertices, prices);
        std::vector<int> part_of(static_cast<std::size_t>(places_.count()), -1);
        std::vector<std::int64_t> capacities;
        std::int64_t all = 0;
        for (std::size_t p = 0; p < parts.size(); ++p) {
            std::int64_t capacity = 0;
            for (const int place : parts[p]) {
                part_of[static_cast<std::size_t>(place)] = static_cast<int>(p);
                capacity += places_.capacity(place);
            }
            capacities.push_back(capacity);
            all += capacity;
        }
        const std::int64_t tasks = graph.total_size();
        const std::size_t depth = places_.levels() - here;
        for (std::int64_t& capacity : capacities)
            capacity = limit(tasks, capacity, all, depth, effort_.packs);
        for (int& place : graph.fixed) {
            if (place >= 0) place = part_of[static_cast<std::size_t>(place)];
        }
        const Assignment sides = partitioned(graph, Places::star(std::move(capacities)), effort_, random_);
        std::vector<std::vector<int>> of(parts.size());
        for (std::size_t i = 0; i < vertices.size(); ++i)
            of[static_cast<std::size_t>(sides[i])].push_back(vertices[i]);
        for (std::size_t p = 0; p < parts.size(); ++p) divide(of[p], parts[p], level);
    }

    const Graph& graph_;
    const Places& places_;
    const Effort& effort_;
    Random& random_;
    Assignment at_;
};

}  // namespace

Assignment multisected(const Graph& graph, const Places& places, const Effort& effort, Random& random) {
    return Multisection(graph, places, effort, random).run();
}

}  // namespace isochrone::core::mapping
