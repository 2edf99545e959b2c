// SPDX-License-Identifier: BSD-3-Clause
#include "reorder/order.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <utility>

#include "mapping/objective.hpp"
#include "mapping/optimiser.hpp"

namespace isochrone::mpi::reorder {
namespace {

using namespace core::mapping;

/// In compressed rows, each edge at both ends with what goes both ways.
Graph graph_of(int vertices, const std::vector<Edge>& edges) {
    std::vector<Edge> ends;
    ends.reserve(2 * edges.size());
    for (const Edge& edge : edges) {
        if (edge.from == edge.to) continue;
        ends.push_back(edge);
        ends.push_back({edge.to, edge.from, edge.weight});
    }
    std::sort(ends.begin(), ends.end(),
              [](const Edge& a, const Edge& b) { return std::pair(a.from, a.to) < std::pair(b.from, b.to); });
    Graph graph;
    const auto count = static_cast<std::size_t>(vertices);
    graph.first.assign(count + 1, 0);
    for (std::size_t i = 0; i < ends.size(); ++i) {
        const bool is_same = i > 0 && ends[i].from == ends[i - 1].from && ends[i].to == ends[i - 1].to;
        if (is_same) {
            graph.weights.back() += ends[i].weight;
            continue;
        }
        graph.neighbours.push_back(ends[i].to);
        graph.weights.push_back(ends[i].weight);
        ++graph.first[static_cast<std::size_t>(ends[i].from) + 1];
    }
    std::partial_sum(graph.first.begin(), graph.first.end(), graph.first.begin());
    graph.sizes.assign(count, 1);
    graph.fixed.assign(count, -1);
    return graph;
}

Places places_of(const core::place::Layout& layout) {
    constexpr std::int64_t message_bytes = 4096;
    std::vector<std::vector<std::vector<double>>> distances;
    for (std::size_t level = 0; level < layout.levels.size(); ++level) {
        const auto& groups = layout.group_of[level];
        const auto count = static_cast<std::size_t>(*std::max_element(groups.begin(), groups.end())) + 1;
        const auto& links = layout.links[level];
        distances.emplace_back(count, std::vector{links.latency_s + links.gap_s.at(message_bytes)});
    }
    return {layout.group_of, std::move(distances),
            std::vector<std::int64_t>(static_cast<std::size_t>(layout.size), 1)};
}

/// As much as never takes long. A time limit is for machines that are far slower than any that is known:
/// where it counts, another run may find another order.
Search quick() {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::seconds(10);
    constexpr double too_short_for_more = 1e-9;
    Search search;
    search.left_s = [end] { return Clock::now() < end ? too_short_for_more : 0.0; };
    return search;
}

}  // namespace

Order best_order(const core::place::Layout& layout, int vertices, const std::vector<Edge>& edges,
                 const std::vector<int>& dimensions) {
    const Problem problem{graph_of(vertices, edges), places_of(layout), dimensions};
    check(problem);
    Assignment given(static_cast<std::size_t>(vertices));
    std::iota(given.begin(), given.end(), 0);
    Order order{.ranks = portfolio(problem, quick())};
    order.given_cost_s = cost(problem.graph, problem.places, given);
    order.cost_s = cost(problem.graph, problem.places, order.ranks);
    // Sums of equal numbers in another order are no gain.
    if (order.cost_s > order.given_cost_s * (1 - 1e-9)) {
        order.ranks = given;
        order.cost_s = order.given_cost_s;
    }
    std::vector<bool> is_taken(static_cast<std::size_t>(layout.size), false);
    for (const int rank : order.ranks) is_taken[static_cast<std::size_t>(rank)] = true;
    for (int rank = 0; rank < layout.size; ++rank) {
        if (!is_taken[static_cast<std::size_t>(rank)]) order.ranks.push_back(rank);
    }
    return order;
}

}  // namespace isochrone::mpi::reorder
