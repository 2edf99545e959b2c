// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/objective.hpp"

#include <algorithm>

namespace isochrone::core::mapping {

double cost(const Graph& graph, const Places& places, const Assignment& at) {
    double sum = 0;
    for (std::size_t v = 0; v + 1 < graph.first.size(); ++v) {
        for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e) {
            const auto u = static_cast<std::size_t>(graph.neighbours[e]);
            if (u <= v) continue;
            const double* distances = places.distances(at[v], at[u]);
            for (int t = 0; t < graph.terms; ++t) sum += graph.weight(e)[t] * distances[t];
        }
    }
    return sum;
}

std::vector<std::int64_t> loads(const Graph& graph, const Places& places, const Assignment& at) {
    std::vector<std::int64_t> sum(static_cast<std::size_t>(places.count()), 0);
    for (std::size_t v = 0; v < at.size(); ++v) sum[static_cast<std::size_t>(at[v])] += graph.sizes[v];
    return sum;
}

std::int64_t overload(const Places& places, const std::vector<std::int64_t>& loads) {
    std::int64_t sum = 0;
    for (std::size_t p = 0; p < loads.size(); ++p) {
        sum += std::max<std::int64_t>(0, loads[p] - places.capacity(static_cast<int>(p)));
    }
    return sum;
}

Worth worth(const Graph& graph, const Places& places, const Assignment& at) {
    return {overload(places, loads(graph, places, at)), cost(graph, places, at)};
}

}  // namespace isochrone::core::mapping
