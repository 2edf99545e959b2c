// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>

#include "mapping/coarsen.hpp"
#include "mapping/multilevel.hpp"
#include "mapping/optimiser.hpp"
#include "mapping/refine.hpp"

namespace {

using namespace isochrone::core::mapping;

Graph graph_of(int tasks, int terms, const std::map<std::pair<int, int>, std::vector<double>>& edges) {
    std::vector<std::vector<std::pair<int, std::vector<double>>>> rows(static_cast<std::size_t>(tasks));
    for (const auto& [ends, weights] : edges) {
        rows[static_cast<std::size_t>(ends.first)].emplace_back(ends.second, weights);
        rows[static_cast<std::size_t>(ends.second)].emplace_back(ends.first, weights);
    }
    Graph graph;
    graph.terms = terms;
    for (const auto& row : rows) {
        for (const auto& [to, weights] : row) {
            graph.neighbours.push_back(to);
            graph.weights.insert(graph.weights.end(), weights.begin(), weights.end());
        }
        graph.first.push_back(graph.neighbours.size());
    }
    graph.sizes.assign(rows.size(), 1);
    graph.fixed.assign(rows.size(), -1);
    return graph;
}

Graph random_graph(int tasks, int edges, int terms, Random& random) {
    std::map<std::pair<int, int>, std::vector<double>> found;
    for (int i = 0; i < edges; ++i) {
        const auto a = static_cast<int>(random.below(static_cast<std::size_t>(tasks)));
        const auto b = static_cast<int>(random.below(static_cast<std::size_t>(tasks)));
        if (a == b) continue;
        std::vector<double> weights;
        for (int t = 0; t < terms; ++t) weights.push_back(static_cast<double>(1 + random.below(9)));
        found[{std::min(a, b), std::max(a, b)}] = weights;
    }
    return graph_of(tasks, terms, found);
}

/// A grid of tasks, numbered by a permutation.
Graph grid(const std::vector<int>& dimensions, const std::vector<int>& number) {
    std::map<std::pair<int, int>, std::vector<double>> edges;
    const int tasks = std::accumulate(dimensions.begin(), dimensions.end(), 1, std::multiplies<>());
    for (int v = 0; v < tasks; ++v) {
        int stride = 1, rest = v;
        for (std::size_t i = dimensions.size(); i-- > 0;) {
            if (rest % dimensions[i] + 1 < dimensions[i]) {
                const int a = number[static_cast<std::size_t>(v)],
                          b = number[static_cast<std::size_t>(v + stride)];
                edges[{std::min(a, b), std::max(a, b)}] = {1};
            }
            rest /= dimensions[i];
            stride *= dimensions[i];
        }
    }
    return graph_of(tasks, 1, edges);
}

std::vector<int> numbers(int count, Random* random) {
    std::vector<int> found(static_cast<std::size_t>(count));
    std::iota(found.begin(), found.end(), 0);
    if (random != nullptr) random->shuffle(found);
    return found;
}

/// A regular tree, `arity` innermost first, with a distance for each level of it.
Places tree(const std::vector<int>& arity, const std::vector<double>& distances, std::int64_t capacity = 1) {
    const int count = std::accumulate(arity.begin(), arity.end(), 1, std::multiplies<>());
    std::vector<std::vector<int>> groups;
    std::vector<std::vector<std::vector<double>>> of;
    int span = count;
    for (std::size_t i = arity.size(); i-- > 0;) {
        groups.emplace_back();
        for (int p = 0; p < count; ++p) groups.back().push_back(p / span);
        of.emplace_back(static_cast<std::size_t>(count / span), std::vector<double>{distances[i]});
        span /= arity[i];
    }
    return {groups, of, std::vector<std::int64_t>(static_cast<std::size_t>(count), capacity)};
}

/// Any tree: uneven groups, a distance of its own for each, uneven capacities.
Places random_tree(int count, int terms, int room, Random& random) {
    std::vector<std::vector<int>> groups{std::vector<int>(static_cast<std::size_t>(count), 0)};
    for (int level = 0; level < 2; ++level) {
        std::map<std::pair<int, int>, int> number;
        std::vector<int> labels;
        for (int p = 0; p < count; ++p) {
            const std::pair key{groups.back()[static_cast<std::size_t>(p)],
                                static_cast<int>(random.below(3))};
            labels.push_back(number.try_emplace(key, static_cast<int>(number.size())).first->second);
        }
        groups.push_back(labels);
    }
    std::vector<std::vector<std::vector<double>>> distances;
    double scale = 100;
    for (const auto& labels : groups) {
        distances.emplace_back();
        for (int g = 0; g <= *std::max_element(labels.begin(), labels.end()); ++g) {
            distances.back().emplace_back();
            for (int t = 0; t < terms; ++t) {
                distances.back().back().push_back(scale * static_cast<double>(1 + random.below(4)));
            }
        }
        scale /= 10;
    }
    std::vector<std::int64_t> capacities(static_cast<std::size_t>(count), 1);
    for (int i = 0; i < room; ++i) ++capacities[random.below(capacities.size())];
    return {groups, distances, capacities};
}

double cost_by_pairs(const Graph& graph, const Places& places, const Assignment& at) {
    double sum = 0;
    for (int a = 0; a < graph.vertices(); ++a) {
        for (std::size_t e = graph.first[static_cast<std::size_t>(a)];
             e < graph.first[static_cast<std::size_t>(a) + 1]; ++e) {
            const int p = at[static_cast<std::size_t>(a)];
            const int q = at[static_cast<std::size_t>(graph.neighbours[e])];
            if (p == q) continue;
            std::size_t level = 0;
            for (std::size_t l = 0; l < places.levels(); ++l) {
                if (places.group(l, p) == places.group(l, q)) level = l;
            }
            const auto distances = places.distances_of(level, places.group(level, p));
            for (int t = 0; t < graph.terms; ++t) {
                sum += graph.weight(e)[t] * distances[static_cast<std::size_t>(t)] / 2;
            }
        }
    }
    return sum;
}

void expect_fits(const Problem& problem, const Assignment& at, const std::string& which) {
    ASSERT_EQ(at.size(), problem.graph.sizes.size()) << which;
    for (std::size_t v = 0; v < at.size(); ++v) {
        ASSERT_GE(at[v], 0) << which;
        ASSERT_LT(at[v], problem.places.count()) << which;
        if (problem.graph.fixed[v] >= 0) {
            EXPECT_EQ(at[v], problem.graph.fixed[v]) << which;
        }
    }
    EXPECT_EQ(overload(problem.places, loads(problem.graph, problem.places, at)), 0) << which;
}

Search search_of(std::uint64_t seed, int threads = 1) {
    Search search;
    search.seed = seed;
    search.threads = threads;
    return search;
}

TEST(Mapping, CostIsThatOfAllPairs) {
    Random random(1);
    for (int i = 0; i < 50; ++i) {
        const int terms = 1 + i % 3;
        const Places places = random_tree(12, terms, 20, random);
        const Graph graph = random_graph(30, 80, terms, random);
        Assignment at;
        for (int v = 0; v < 30; ++v) at.push_back(static_cast<int>(random.below(12)));
        EXPECT_NEAR(cost(graph, places, at), cost_by_pairs(graph, places, at), 1e-6);
        Ties ties(places);
        for (int v = 0; v < 30; ++v) {
            const int to = static_cast<int>(random.below(12));
            const double before = cost(graph, places, at);
            ties.collect(graph, at, v);
            const double change = ties.cost_at(to) - ties.cost_at(at[static_cast<std::size_t>(v)]);
            at[static_cast<std::size_t>(v)] = to;
            EXPECT_NEAR(cost(graph, places, at) - before, change, 1e-6);
        }
    }
}

TEST(Mapping, CoarseGraphsCostTheSame) {
    Random random(2);
    for (int i = 0; i < 30; ++i) {
        const Places places = random_tree(6, 2, 40, random);
        const Graph graph = random_graph(40, 120, 2, random);
        Assignment at;
        for (int v = 0; v < 40; ++v) at.push_back(static_cast<int>(random.below(6)));
        const Clusters clusters = match(graph, {1, 1}, 4, {&at}, random);
        EXPECT_LT(clusters.count, 40);
        Assignment coarse(static_cast<std::size_t>(clusters.count), -1);
        for (std::size_t v = 0; v < at.size(); ++v) {
            int& place = coarse[static_cast<std::size_t>(clusters.of[v])];
            EXPECT_TRUE(place < 0 || place == at[v]);
            place = at[v];
        }
        const Graph small = contracted(graph, clusters.of, clusters.count);
        EXPECT_EQ(small.total_size(), 40);
        EXPECT_NEAR(cost(small, places, coarse), cost(graph, places, at), 1e-6);
        EXPECT_EQ(loads(small, places, coarse), loads(graph, places, at));
    }
}

TEST(Mapping, EachOptimiserFitsWhateverTheProblem) {
    Random random(3);
    for (int i = 0; i < 60; ++i) {
        const int places = 1 + static_cast<int>(random.below(16)), terms = 1 + i % 2;
        const int room = i % 3 == 0 ? 0 : static_cast<int>(random.below(40));
        const int most = places + room;
        const int tasks =
            i % 4 == 0 ? most : 1 + static_cast<int>(random.below(static_cast<std::size_t>(most)));
        Problem problem{random_graph(tasks, i % 5 == 0 ? 0 : 3 * tasks, terms, random),
                        random_tree(places, terms, room, random),
                        {}};
        std::vector<std::int64_t> left = problem.places.capacities();
        for (int v = 0; v < tasks && i % 2 == 1; v += 3) {
            const std::size_t place = random.below(left.size());
            if (left[place]-- > 0) problem.graph.fixed[static_cast<std::size_t>(v)] = static_cast<int>(place);
        }
        check(problem);
        const double own = cost(problem.graph, problem.places, identity(problem, search_of(0)));
        for (const Optimiser& optimiser : optimisers()) {
            const Assignment at = optimiser.function(problem, search_of(static_cast<std::uint64_t>(i), 2));
            if (optimiser.function == cartesian && at.empty()) continue;
            const std::string which = std::string(optimiser.name) + " of problem " + std::to_string(i);
            expect_fits(problem, at, which);
            if (optimiser.function == portfolio || optimiser.function == swaps) {
                EXPECT_LE(cost(problem.graph, problem.places, at), own * (1 + 1e-12)) << which;
            }
        }
    }
}

TEST(Mapping, SwapsEndWhenTheyAreLateAndAreNoWorseThen) {
    Random random(6);
    Problem problem{random_graph(64, 400, 1, random), tree({4, 4, 4}, {1, 10, 100}), {}};
    const double own = cost(problem.graph, problem.places, identity(problem, search_of(0)));
    double before = own;
    for (const int most : {0, 1, 20, 400}) {
        Assignment at = identity(problem, search_of(0));
        Random same(1);
        State state(problem.graph, problem.places, at);
        int asked = 0;
        const double fallen = search_swaps(state, same, [&] { return asked++ >= most; });
        EXPECT_LE(asked, most + 1);
        EXPECT_NEAR(cost(problem.graph, problem.places, at), own - fallen, 1e-9 * own);
        EXPECT_LE(own - fallen, before);
        before = own - fallen;
    }
    EXPECT_LT(before, own);
}

TEST(Mapping, SmallProblemsAreSolved) {
    Random random(4);
    for (int i = 0; i < 20; ++i) {
        Problem problem{random_graph(8, 14, 1, random), tree({2, 2, 2}, {1, 10, 100}), {}};
        Assignment at = numbers(8, nullptr);
        double least = cost(problem.graph, problem.places, at);
        while (std::next_permutation(at.begin(), at.end())) {
            least = std::min(least, cost(problem.graph, problem.places, at));
        }
        const Assignment found = portfolio(problem, search_of(static_cast<std::uint64_t>(i)));
        EXPECT_DOUBLE_EQ(cost(problem.graph, problem.places, found), least) << i;
    }
}

TEST(Mapping, ThreadsAndTimeDoNotChangeWhatASeedFinds) {
    Random random(5);
    Problem problem{random_graph(60, 200, 1, random), tree({3, 4, 5}, {1, 3, 9}), {}};
    const Assignment one = portfolio(problem, search_of(7, 1));
    EXPECT_EQ(one, portfolio(problem, search_of(7, 4)));
    Search late = search_of(7, 2);
    late.left_s = [] { return 0.0; };
    late.goes_on = true;
    expect_fits(problem, portfolio(problem, late), "late");
}

TEST(Mapping, GroupsThatTalkAreKeptTogether) {
    // Nodes of uneven size, tasks that come in groups of the same sizes, in any order.
    Random random(6);
    const std::vector<int> sizes{3, 5, 1, 4, 7, 4};
    std::vector<int> node, group;
    for (std::size_t n = 0; n < sizes.size(); ++n) {
        node.insert(node.end(), static_cast<std::size_t>(sizes[n]), static_cast<int>(n));
    }
    group = node;
    random.shuffle(group);
    const auto count = static_cast<int>(node.size());
    std::map<std::pair<int, int>, std::vector<double>> edges;
    double inside = 0;
    for (int a = 0; a < count; ++a) {
        for (int b = a + 1; b < count; ++b) {
            const bool together = group[static_cast<std::size_t>(a)] == group[static_cast<std::size_t>(b)];
            edges[{a, b}] = {together ? 1000.0 : 1.0};
            inside += together ? 1000 : 0;
        }
    }
    Places places({std::vector<int>(node.size(), 0), node},
                  {{{2}}, std::vector<std::vector<double>>(sizes.size(), {1.0})},
                  std::vector<std::int64_t>(node.size(), 1));
    Problem problem{graph_of(count, 1, edges), places, {}};
    const Assignment at = portfolio(problem, search_of(1));
    for (std::size_t a = 0; a < at.size(); ++a) {
        for (std::size_t b = 0; b < at.size(); ++b) {
            EXPECT_EQ(group[a] == group[b],
                      node[static_cast<std::size_t>(at[a])] == node[static_cast<std::size_t>(at[b])]);
        }
    }
}

TEST(Mapping, TasksFewerThanPlacesComeTogether) {
    // 4 nodes of 4 places and 8 tasks that all talk: two nodes are enough.
    Random random(8);
    std::map<std::pair<int, int>, std::vector<double>> edges;
    for (int a = 0; a < 8; ++a) {
        for (int b = a + 1; b < 8; ++b) edges[{a, b}] = {1.0};
    }
    Problem problem{graph_of(8, 1, edges), tree({4, 4}, {1, 10}), {}};
    const Assignment at = portfolio(problem, search_of(1));
    EXPECT_DOUBLE_EQ(cost(problem.graph, problem.places, at), 12 + 16 * 10);
    expect_fits(problem, multisection(problem, search_of(1)), "multisection");
}

struct Known {
    std::vector<int> dimensions, arity;
    double boxes;  ///< J of the best boxes, by hand
    double most;   ///< the best J known of any other mapper
};

TEST(Mapping, GridsOnTreesOfEqualGroups) {
    // J counts both directions. "most" are the best of Scotch, KaHIP and SharedMap.
    const std::vector<Known> known{{{8, 8, 16}, {4, 8, 32}, 163328, 163328},
                                   {{12, 12, 12}, {4, 12, 36}, 245376, 266742},
                                   {{32, 48}, {8, 6, 32}, 91520, 98000}};
    for (const Known& instance : known) {
        const int tasks =
            std::accumulate(instance.dimensions.begin(), instance.dimensions.end(), 1, std::multiplies<>());
        const Places places = tree(instance.arity, {1, 10, 100});
        const Problem in_order{grid(instance.dimensions, numbers(tasks, nullptr)), places, {}};
        const auto boxes = cartesian(in_order, search_of(0));
        expect_fits(in_order, boxes, "boxes");
        EXPECT_DOUBLE_EQ(2 * cost(in_order.graph, places, boxes), instance.boxes);
        // Ranks in any order: the grid has to be found by its edges alone.
        Random random(1);
        const Problem mixed{grid(instance.dimensions, numbers(tasks, &random)), places, {}};
        EXPECT_TRUE(cartesian(mixed, search_of(0)).empty());
        const auto at = multisection(mixed, search_of(1));
        expect_fits(mixed, at, "multisection");
        EXPECT_LE(2 * cost(mixed.graph, places, at), instance.most);
    }
}

TEST(Mapping, ImpossibleProblemsAreRefused) {
    Random random(9);
    EXPECT_THROW(check({random_graph(5, 4, 1, random), tree({2, 2}, {1, 2}), {}}), std::invalid_argument);
    Problem problem{random_graph(4, 4, 1, random), tree({2, 2}, {1, 2}), {}};
    problem.graph.fixed = {0, 0, -1, -1};
    EXPECT_THROW(check(problem), std::invalid_argument);
    problem.graph.fixed = {4, -1, -1, -1};
    EXPECT_THROW(check(problem), std::invalid_argument);
    EXPECT_THROW(Places({{0, 0}, {0, 1}}, {{{1}}, {{1}}}, {1, 1}), std::invalid_argument);
    EXPECT_THROW(Places({{0, 0}}, {{{-1}}}, {1, 1}), std::invalid_argument);
    EXPECT_THROW(Places({{0, 1}}, {{{1}, {1}}}, {1, 1}), std::invalid_argument);
    EXPECT_THROW(Places({{0, 0, 0}, {0, 1, 1}, {0, 0, 1}}, {{{1}}, {{1}, {1}}, {{1}, {1}}}, {1, 1, 1}),
                 std::invalid_argument);
}

}  // namespace
