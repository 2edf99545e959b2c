// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/coarsen.hpp"

#include <algorithm>

namespace isochrone::core::mapping {

namespace {

struct Edge {
    double rating;
    std::uint32_t tie;
    int a, b;
};

double priced(const Graph& graph, std::size_t end, const std::vector<double>& prices) {
    double sum = 0;
    for (std::size_t t = 0; t < prices.size(); ++t) sum += graph.weight(end)[t] * prices[t];
    return sum;
}

}  // namespace

Clusters match(const Graph& graph, const std::vector<double>& prices, std::int64_t most_size,
               const std::vector<const Assignment*>& kept, Random& random) {
    const auto count = static_cast<std::size_t>(graph.vertices());
    const auto can_join = [&](std::size_t a, std::size_t b) {
        return graph.sizes[a] + graph.sizes[b] <= most_size && graph.fixed[a] < 0 && graph.fixed[b] < 0 &&
               std::all_of(kept.begin(), kept.end(),
                           [&](const Assignment* at) { return (*at)[a] == (*at)[b]; });
    };
    std::vector<Edge> edges;
    edges.reserve(graph.neighbours.size() / 2);
    for (std::size_t v = 0; v < count; ++v) {
        for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e) {
            const auto u = static_cast<std::size_t>(graph.neighbours[e]);
            if (u <= v || !can_join(u, v)) continue;
            const double weight = priced(graph, e, prices);
            const auto sizes = static_cast<double>(graph.sizes[u]) * static_cast<double>(graph.sizes[v]);
            edges.push_back({weight * weight / sizes, static_cast<std::uint32_t>(random.next()),
                             static_cast<int>(v), static_cast<int>(u)});
        }
    }
    std::sort(edges.begin(), edges.end(), [](const Edge& x, const Edge& y) {
        return x.rating != y.rating ? x.rating > y.rating : x.tie < y.tie;
    });
    std::vector<int> mate(count, -1);
    std::size_t alone = count;
    const auto join = [&](int a, int b) {
        mate[static_cast<std::size_t>(a)] = b;
        mate[static_cast<std::size_t>(b)] = a;
        alone -= 2;
    };
    for (const Edge& edge : edges) {
        if (mate[static_cast<std::size_t>(edge.a)] < 0 && mate[static_cast<std::size_t>(edge.b)] < 0)
            join(edge.a, edge.b);
    }
    if (alone * 3 > count) {
        std::vector<int> waiting(count, -1);  // at each vertex, one that is alone and tied most to it
        std::vector<int> order(count);
        for (std::size_t v = 0; v < count; ++v) order[v] = static_cast<int>(v);
        random.shuffle(order);
        for (const int vertex : order) {
            const auto v = static_cast<std::size_t>(vertex);
            if (mate[v] >= 0 || graph.first[v] == graph.first[v + 1]) continue;
            std::size_t best = graph.first[v];
            for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e) {
                if (priced(graph, e, prices) > priced(graph, best, prices)) best = e;
            }
            int& other = waiting[static_cast<std::size_t>(graph.neighbours[best])];
            if (other >= 0 && can_join(v, static_cast<std::size_t>(other))) {
                join(vertex, other);
                other = -1;
            } else {
                other = vertex;
            }
        }
    }
    Clusters clusters{std::vector<int>(count, -1), 0};
    for (std::size_t v = 0; v < count; ++v) {
        if (clusters.of[v] >= 0) continue;
        clusters.of[v] = clusters.count;
        if (mate[v] >= 0) clusters.of[static_cast<std::size_t>(mate[v])] = clusters.count;
        ++clusters.count;
    }
    return clusters;
}

}  // namespace isochrone::core::mapping
