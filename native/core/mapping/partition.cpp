// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/partition.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <utility>

#include "mapping/objective.hpp"
#include "mapping/refine.hpp"

namespace isochrone::core::mapping {

std::int64_t limit(std::int64_t tasks, std::int64_t capacity, std::int64_t of, std::size_t depth,
                   bool packs) {
    if (of == 0 || tasks == 0 || packs) return capacity;
    const double slack = static_cast<double>(of) / static_cast<double>(tasks);
    const double share = static_cast<double>(tasks) * static_cast<double>(capacity) / static_cast<double>(of);
    const double most = share * std::pow(std::max(slack, 1.0), 1.0 / static_cast<double>(depth));
    return std::min(capacity, static_cast<std::int64_t>(std::ceil(most - 1e-9)));
}

namespace {

/// Two parts of a small graph: one grows from a vertex, by what ties it most, to its share; then both are
/// refined.
Assignment bisection(const Graph& graph, const Places& halves, const Effort& effort, Random& random) {
    const std::int64_t tasks = graph.total_size();
    const double share =
        static_cast<double>(halves.capacity(0)) /
        static_cast<double>(std::max<std::int64_t>(1, halves.capacity(0) + halves.capacity(1)));
    const std::int64_t wanted =
        effort.packs ? std::min(halves.capacity(0), tasks) : std::llround(static_cast<double>(tasks) * share);
    const auto count = static_cast<std::size_t>(graph.vertices());
    Assignment best;
    std::int64_t least_over = 0;
    double least = 0;
    for (int attempt = 0; attempt < effort.tries && (attempt == 0 || !effort.is_late()); ++attempt) {
        Assignment at(count, 1);
        std::int64_t grown = 0;
        std::vector<double> tie(count, 0.0);
        std::vector<char> is_in(count, 0);
        std::priority_queue<std::pair<double, int>> queue;
        const auto take = [&](std::size_t v) {
            is_in[v] = 1;
            at[v] = 0;
            grown += graph.sizes[v];
            for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e) {
                const auto u = static_cast<std::size_t>(graph.neighbours[e]);
                if (is_in[u] || graph.fixed[u] >= 0) continue;
                // What it ties to the part, less what it ties to the rest, which it would bring in.
                tie[u] += 2 * graph.weights[e];
                queue.emplace(tie[u], graph.neighbours[e]);
            }
        };
        for (std::size_t v = 0; v < count; ++v) {
            for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e) tie[v] -= graph.weights[e];
        }
        for (std::size_t v = 0; v < count; ++v) {
            if (graph.fixed[v] == 0) take(v);
        }
        std::vector<int> order(count);
        std::iota(order.begin(), order.end(), 0);
        random.shuffle(order);
        std::size_t next = 0;
        while (grown < wanted) {
            while (!queue.empty()) {
                const auto [value, vertex] = queue.top();
                const auto v = static_cast<std::size_t>(vertex);
                if (!is_in[v] && tie[v] <= value) break;
                queue.pop();
            }
            std::size_t v = count;
            if (!queue.empty()) {
                v = static_cast<std::size_t>(queue.top().second);
                queue.pop();
            } else {
                while (next < count && (is_in[static_cast<std::size_t>(order[next])] ||
                                        graph.fixed[static_cast<std::size_t>(order[next])] >= 0)) {
                    ++next;
                }
                if (next == count) break;
                v = static_cast<std::size_t>(order[next]);
            }
            if (grown > 0 && grown + graph.sizes[v] - wanted > wanted - grown) break;
            take(v);
        }
        {
            State state(graph, halves, at);
            search_pairs(state, effort.fruitless * 2, effort.rounds, random);
        }
        const std::int64_t over = overload(halves, loads(graph, halves, at));
        const double crossing = cost(graph, halves, at);
        if (best.empty() || over < least_over || (over == least_over && crossing < least)) {
            best = std::move(at);
            least_over = over;
            least = crossing;
        }
    }
    return best;
}

Assignment partition(const Graph& graph, const Places& parts, const Effort& effort, Random& random);

/// Parts of a graph, by bisection of the places' list. `vertices` are of `whole`.
void bisect(const Graph& whole, const std::vector<int>& vertices, const std::vector<std::int64_t>& capacities,
            int from, int to, const Effort& effort, Random& random, Assignment& at) {
    if (to - from == 1) {
        for (const int v : vertices) at[static_cast<std::size_t>(v)] = from;
        return;
    }
    Graph graph = induced(whole, vertices, {1.0});
    const int middle = from + (to - from) / 2;
    const auto sum = [&](int a, int b) {
        return std::accumulate(capacities.begin() + a, capacities.begin() + b, std::int64_t{0});
    };
    const std::int64_t tasks = graph.total_size(), all = sum(from, to);
    const auto depth = static_cast<std::size_t>(std::ceil(std::log2(to - from)));
    const Places halves = Places::star({limit(tasks, sum(from, middle), all, depth, effort.packs),
                                        limit(tasks, sum(middle, to), all, depth, effort.packs)});
    for (int& place : graph.fixed) {
        if (place >= 0) place = place < middle ? 0 : 1;
    }
    const Assignment sides = partition(graph, halves, effort, random);
    std::vector<int> parts[2];
    for (std::size_t i = 0; i < vertices.size(); ++i) parts[sides[i]].push_back(vertices[i]);
    bisect(whole, parts[0], capacities, from, middle, effort, random, at);
    bisect(whole, parts[1], capacities, middle, to, effort, random, at);
}

/// Parts of a graph with as little as can be between them.
Assignment partition(const Graph& graph, const Places& parts, const Effort& effort, Random& random) {
    if (graph.vertices() == 0) return {};
    const int fewest = effort.is_deep ? parts.count() : std::max(120, 25 * parts.count());
    const std::int64_t most_size =
        effort.is_deep ? *std::max_element(parts.capacities().begin(), parts.capacities().end())
                       : std::max<std::int64_t>(1, graph.total_size() * 3 / (2 * fewest));
    std::vector<Assignment> kept;
    const Hierarchy hierarchy = coarsen(graph, {1.0}, fewest, most_size, kept, random);
    const Graph& coarsest = hierarchy.graph(graph, hierarchy.graphs.size());
    Assignment at(static_cast<std::size_t>(coarsest.vertices()), 0);
    if (parts.count() == 2) {
        at = bisection(coarsest, parts, effort, random);
    } else {
        std::vector<int> all(at.size());
        std::iota(all.begin(), all.end(), 0);
        bisect(coarsest, all, parts.capacities(), 0, parts.count(), effort, random, at);
    }
    uncoarsen(graph, hierarchy, parts, at, effort, random);
    return at;
}

/// A divisor of a number of parts, other than one and itself, drawn; 1 for a prime number.
int divisor_of(int parts, Random& random) {
    std::vector<int> divisors;
    for (int d = 2; d < parts; ++d) {
        if (parts % d == 0) divisors.push_back(d);
    }
    return divisors.empty() ? 1 : divisors[random.below(divisors.size())];
}

/// Parts of a graph in two steps: as many as a divisor says, then each of them. Where tasks form a grid,
/// straight cuts are the best ones, and only few parts at a time find them.
Assignment in_steps(const Graph& graph, const Places& parts, int divisor, const Effort& effort,
                    Random& random) {
    const int each = parts.count() / divisor;
    const std::int64_t tasks = graph.total_size();
    const auto& all = parts.capacities();
    const std::int64_t capacity = std::accumulate(all.begin(), all.end(), std::int64_t{0});
    std::vector<std::int64_t> outer;
    for (int d = 0; d < divisor; ++d) {
        const auto begin = all.begin() + d * each;
        outer.push_back(
            limit(tasks, std::accumulate(begin, begin + each, std::int64_t{0}), capacity, 2, effort.packs));
    }
    Graph coarse = graph;
    for (int& place : coarse.fixed) {
        if (place >= 0) place /= each;
    }
    const Assignment sides = partitioned(coarse, Places::star(std::move(outer)), effort, random);
    std::vector<std::vector<int>> of(static_cast<std::size_t>(divisor));
    for (std::size_t v = 0; v < sides.size(); ++v)
        of[static_cast<std::size_t>(sides[v])].push_back(static_cast<int>(v));
    Assignment at(sides.size());
    for (int d = 0; d < divisor; ++d) {
        const auto& vertices = of[static_cast<std::size_t>(d)];
        if (vertices.empty()) continue;
        Graph part = induced(graph, vertices, {1.0});
        for (int& place : part.fixed) {
            if (place >= 0) place -= d * each;
        }
        const auto begin = all.begin() + d * each;
        const Assignment inner =
            partitioned(part, Places::star(std::vector<std::int64_t>(begin, begin + each)), effort, random);
        for (std::size_t i = 0; i < vertices.size(); ++i)
            at[static_cast<std::size_t>(vertices[i])] = d * each + inner[i];
    }
    return at;
}

}  // namespace

Assignment partitioned(const Graph& graph, const Places& parts, const Effort& effort, Random& random) {
    std::vector<std::pair<Worth, Assignment>> found;
    const auto add = [&](Assignment at) {
        for (int i = 0; i < effort.cycles; ++i) cycle(graph, parts, at, nullptr, effort, random);
        const Worth value = worth(graph, parts, at);
        found.emplace_back(value, std::move(at));
    };
    for (int start = 0; start < effort.starts; ++start) {
        if (start == 0 || !effort.is_late()) add(partition(graph, parts, effort, random));
    }
    for (int start = 0; start < effort.steps && !effort.is_late(); ++start) {
        const int divisor = divisor_of(parts.count(), random);
        if (divisor > 1) add(in_steps(graph, parts, divisor, effort, random));
    }
    for (int i = 0; i < effort.crossings && found.size() > 1 && !effort.is_late(); ++i) {
        std::size_t a = random.below(found.size()), b = random.below(found.size() - 1);
        if (b >= a) ++b;
        if (found[b].first < found[a].first) std::swap(a, b);
        Assignment child = found[a].second;
        cycle(graph, parts, child, &found[b].second, effort, random);
        const Worth value = worth(graph, parts, child);
        if (value < found[a].first) {
            // In place of the worse of its parents: they are alike.
            found[b] = {value, std::move(child)};
        } else {
            cycle(graph, parts, found[b].second, &found[a].second, effort, random);
            found[b].first = worth(graph, parts, found[b].second);
        }
    }
    const auto better = [](const auto& x, const auto& y) { return x.first < y.first; };
    return std::min_element(found.begin(), found.end(), better)->second;
}

}  // namespace isochrone::core::mapping
