// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/graph.hpp"

#include <numeric>

namespace isochrone::core::mapping {

std::int64_t Graph::total_size() const {
    return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
}

Graph contracted(const Graph& graph, const std::vector<int>& cluster, int clusters) {
    const auto count = static_cast<std::size_t>(clusters);
    const auto terms = static_cast<std::size_t>(graph.terms);
    std::vector<std::size_t> begin(count + 1, 0);
    for (const int c : cluster) ++begin[static_cast<std::size_t>(c) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<int> members(cluster.size());
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    for (std::size_t v = 0; v < cluster.size(); ++v)
        members[next[static_cast<std::size_t>(cluster[v])]++] = static_cast<int>(v);

    Graph coarse;
    coarse.terms = graph.terms;
    coarse.first.reserve(count + 1);
    coarse.sizes.assign(count, 0);
    coarse.fixed.assign(count, -1);
    coarse.neighbours.reserve(graph.neighbours.size());
    coarse.weights.reserve(graph.weights.size());
    std::vector<std::size_t> at(count, SIZE_MAX);  // where the edge to a cluster is, if it is of this row
    for (std::size_t c = 0; c < count; ++c) {
        const std::size_t row = coarse.neighbours.size();
        for (std::size_t i = begin[c]; i < begin[c + 1]; ++i) {
            const auto v = static_cast<std::size_t>(members[i]);
            coarse.sizes[c] += graph.sizes[v];
            if (graph.fixed[v] >= 0) coarse.fixed[c] = graph.fixed[v];
            for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e) {
                const auto to =
                    static_cast<std::size_t>(cluster[static_cast<std::size_t>(graph.neighbours[e])]);
                if (to == c) continue;
                if (at[to] == SIZE_MAX || at[to] < row) {
                    at[to] = coarse.neighbours.size();
                    coarse.neighbours.push_back(static_cast<int>(to));
                    coarse.weights.insert(coarse.weights.end(), graph.weight(e), graph.weight(e) + terms);
                } else {
                    for (std::size_t t = 0; t < terms; ++t)
                        coarse.weights[at[to] * terms + t] += graph.weight(e)[t];
                }
            }
        }
        coarse.first.push_back(coarse.neighbours.size());
    }
    return coarse;
}

Graph induced(const Graph& graph, const std::vector<int>& vertices, const std::vector<double>& prices) {
    std::vector<int> number(static_cast<std::size_t>(graph.vertices()), -1);
    for (std::size_t i = 0; i < vertices.size(); ++i)
        number[static_cast<std::size_t>(vertices[i])] = static_cast<int>(i);
    Graph part;
    part.first.reserve(vertices.size() + 1);
    for (const int vertex : vertices) {
        const auto v = static_cast<std::size_t>(vertex);
        part.sizes.push_back(graph.sizes[v]);
        part.fixed.push_back(graph.fixed[v]);
        for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e) {
            const int to = number[static_cast<std::size_t>(graph.neighbours[e])];
            if (to < 0) continue;
            part.neighbours.push_back(to);
            double weight = 0;
            for (std::size_t t = 0; t < prices.size(); ++t) weight += graph.weight(e)[t] * prices[t];
            part.weights.push_back(weight);
        }
        part.first.push_back(part.neighbours.size());
    }
    return part;
}

}  // namespace isochrone::core::mapping
