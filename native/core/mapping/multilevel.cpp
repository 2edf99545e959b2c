// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/multilevel.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "mapping/objective.hpp"
#include "mapping/refine.hpp"

namespace isochrone::core::mapping {

Hierarchy coarsen(const Graph& finest, const std::vector<double>& prices, int fewest, std::int64_t most_size,
                  std::vector<Assignment>& kept, Random& random) {
    Hierarchy hierarchy;
    constexpr double least_shrinking = 0.95;
    const Graph* graph = &finest;
    while (graph->vertices() > fewest) {
        std::vector<const Assignment*> respected;
        for (const Assignment& at : kept) respected.push_back(&at);
        Clusters clusters = match(*graph, prices, most_size, respected, random);
        if (clusters.count > least_shrinking * graph->vertices()) break;
        for (Assignment& at : kept) {
            Assignment coarse(static_cast<std::size_t>(clusters.count));
            for (std::size_t v = 0; v < at.size(); ++v)
                coarse[static_cast<std::size_t>(clusters.of[v])] = at[v];
            at = std::move(coarse);
        }
        hierarchy.graphs.push_back(contracted(*graph, clusters.of, clusters.count));
        hierarchy.clusters.push_back(std::move(clusters));
        graph = &hierarchy.graphs.back();
    }
    return hierarchy;
}

namespace {

bool is_tight(const Graph& graph, const Places& places) {
    const std::int64_t largest = *std::max_element(graph.sizes.begin(), graph.sizes.end());
    const auto& capacities = places.capacities();
    const std::int64_t room =
        std::accumulate(capacities.begin(), capacities.end(), std::int64_t{0}) - graph.total_size();
    return room < largest * places.count();
}

void refine(const Graph& graph, const Places& places, Assignment& at, const Effort& effort, Random& random) {
    State state(graph, places, at);
    if (overload(places, state.loads) > 0) {
        search_pairs(state, effort.fruitless, effort.rounds, random);
        if (overload(places, state.loads) > 0) unload(state);
    }
    for (int round = 0; round < effort.rounds && !effort.is_late(); ++round) {
        if (search_moves(state, effort.fruitless, random) <= state.tiny) break;
    }
    if (is_tight(graph, places) && !effort.is_late())
        search_pairs(state, effort.fruitless, effort.rounds, random);
}

}  // namespace

void uncoarsen(const Graph& finest, const Hierarchy& hierarchy, const Places& places, Assignment& at,
               const Effort& effort, Random& random) {
    for (std::size_t level = hierarchy.graphs.size();; --level) {
        refine(hierarchy.graph(finest, level), places, at, effort, random);
        if (level == 0) break;
        const std::vector<int>& cluster = hierarchy.clusters[level - 1].of;
        Assignment fine(cluster.size());
        for (std::size_t v = 0; v < cluster.size(); ++v) fine[v] = at[static_cast<std::size_t>(cluster[v])];
        at = std::move(fine);
    }
}

void cycle(const Graph& graph, const Places& places, Assignment& at, const Assignment* other,
           const Effort& effort, Random& random) {
    std::vector<double> prices = places.distances_of(0, 0);
    const int fewest = 8 * places.count();
    const std::int64_t most_size = std::max<std::int64_t>(1, graph.total_size() / std::max(1, fewest / 2));
    std::vector<Assignment> kept{at};
    if (other != nullptr) kept.push_back(*other);
    const Hierarchy hierarchy = coarsen(graph, prices, fewest, most_size, kept, random);
    Assignment better = std::move(kept[0]);
    uncoarsen(graph, hierarchy, places, better, effort, random);
    if (!(worth(graph, places, at) < worth(graph, places, better))) at = std::move(better);
}

}  // namespace isochrone::core::mapping
