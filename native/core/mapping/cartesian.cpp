// SPDX-License-Identifier: BSD-3-Clause
//
// A grid of tasks on a tree of equal groups: the grid is cut into equal boxes, a box for each outermost
// group, each box into smaller ones, down to the places. Of all ways to do so the cheapest is found by
// dynamic programming on the shapes of boxes. Where the dimensions are not known, those are taken under which
// the edges are those of a grid.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>

#include "mapping/optimiser.hpp"

namespace isochrone::core::mapping {

namespace {

using Shape = std::vector<int>;

/// The factorisations of a number into so many factors, in all orders.
void factorise(int number, std::size_t factors, Shape& sofar, std::vector<Shape>& found, int least) {
    if (factors == 1) {
        if (number < least) return;
        sofar.push_back(number);
        found.push_back(sofar);
        sofar.pop_back();
        return;
    }
    for (int f = least; f <= number; ++f) {
        if (number % f != 0) continue;
        sofar.push_back(f);
        factorise(number / f, factors - 1, sofar, found, least);
        sofar.pop_back();
    }
}

std::vector<Shape> factorisations(int number, std::size_t factors, int least) {
    std::vector<Shape> found;
    Shape sofar;
    factorise(number, factors, sofar, found, least);
    return found;
}

Shape coordinates(int task, const Shape& dimensions) {
    Shape at(dimensions.size());
    for (std::size_t i = dimensions.size(); i-- > 0;) {
        at[i] = task % dimensions[i];
        task /= dimensions[i];
    }
    return at;
}

/// The dimension along which two tasks are neighbours, round the end too; none if they are not.
std::optional<std::size_t> along(int a, int b, const Shape& dimensions) {
    std::optional<std::size_t> found;
    for (std::size_t i = dimensions.size(); i-- > 0; a /= dimensions[i], b /= dimensions[i]) {
        const int apart = std::abs(a % dimensions[i] - b % dimensions[i]);
        if (apart == 0) continue;
        if (found || (apart != 1 && apart != dimensions[i] - 1)) return std::nullopt;
        found = i;
    }
    return found;
}

/// Whether nearly all edges are between neighbours of the grid.
bool is_grid(const Graph& graph, const Shape& dimensions) {
    constexpr double most_others = 0.02;
    const double allowed = most_others * static_cast<double>(graph.neighbours.size());
    double others = 0;
    for (std::size_t v = 0; v + 1 < graph.first.size(); ++v) {
        for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e) {
            if (!along(static_cast<int>(v), graph.neighbours[e], dimensions) && ++others > allowed)
                return false;
        }
    }
    return true;
}

Shape recognised(const Graph& graph) {
    constexpr std::size_t most_dimensions = 4;
    // A row of tasks is found by other means, and a grid with few tasks is not worth it.
    if (graph.vertices() < 4 || graph.neighbours.empty()) return {};
    for (std::size_t dimensions = 2; dimensions <= most_dimensions; ++dimensions) {
        for (const Shape& shape : factorisations(graph.vertices(), dimensions, 2)) {
            if (is_grid(graph, shape)) return shape;
        }
    }
    return {};
}

/// The tree's levels as numbers: into how many parts each group of a level is divided; empty if uneven.
struct Regular {
    std::vector<int> parts;                      ///< [level], outermost first
    std::vector<std::vector<double>> distances;  ///< [level][term], of pairs that meet there
};

std::optional<Regular> regular(const Places& places) {
    Regular found;
    std::vector<int> sizes;
    for (std::size_t level = 0; level < places.levels(); ++level) {
        std::map<int, int> members;
        for (int p = 0; p < places.count(); ++p) ++members[places.group(level, p)];
        const int size = members.begin()->second;
        for (const auto& [group, count] : members) {
            if (count != size) return std::nullopt;
        }
        for (const auto& [group, count] : members) {
            if (places.distances_of(level, group) != places.distances_of(level, members.begin()->first)) {
                return std::nullopt;
            }
        }
        sizes.push_back(size);
        found.distances.push_back(places.distances_of(level, members.begin()->first));
    }
    sizes.push_back(1);
    for (std::size_t level = 0; level < places.levels(); ++level)
        found.parts.push_back(sizes[level] / sizes[level + 1]);
    return found;
}

class Boxes {
  public:
    Boxes(const Graph& graph, const Shape& dimensions, Regular tree) : tree_(std::move(tree)) {
        const auto terms = static_cast<std::size_t>(graph.terms);
        weights_.assign(dimensions.size(), std::vector<double>(terms, 0.0));
        std::vector<double> edges(dimensions.size(), 0.0);
        for (std::size_t v = 0; v + 1 < graph.first.size(); ++v) {
            for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e) {
                const auto dimension = along(static_cast<int>(v), graph.neighbours[e], dimensions);
                if (!dimension) continue;
                edges[*dimension] += 1;
                for (std::size_t t = 0; t < terms; ++t) weights_[*dimension][t] += graph.weight(e)[t];
            }
        }
        for (std::size_t i = 0; i < dimensions.size(); ++i) {
            for (double& weight : weights_[i]) weight /= std::max(1.0, edges[i]);
        }
    }

    struct Way {
        double cost = 0;
        Shape cuts;  ///< into how many boxes along each dimension
    };

    /// The best way to cut a box at a level; none where it cannot be cut evenly.
    const std::optional<Way>& best(std::size_t level, const Shape& box) {
        const auto [at, is_new] = found_.try_emplace({level, box});
        if (!is_new) return at->second;
        std::optional<Way> best_way;
        for (const Shape& cuts : factorisations(tree_.parts[level], box.size(), 1)) {
            Shape inner = box;
            bool fits = true;
            for (std::size_t i = 0; i < box.size() && fits; ++i) {
                fits = box[i] % cuts[i] == 0;
                inner[i] = box[i] / cuts[i];
            }
            if (!fits) continue;
            double cost = 0, tasks = 1;
            for (const int side : box) tasks *= side;
            for (std::size_t i = 0; i < box.size(); ++i) {
                for (std::size_t t = 0; t < weights_[i].size(); ++t) {
                    cost += (cuts[i] - 1) * (tasks / box[i]) * weights_[i][t] * tree_.distances[level][t];
                }
            }
            if (level + 1 < tree_.parts.size()) {
                const auto& below = best(level + 1, inner);
                if (!below) continue;
                cost += tree_.parts[level] * below->cost;
            }
            if (!best_way || cost < best_way->cost) best_way = Way{cost, cuts};
        }
        return found_[{level, box}] = best_way;
    }

    /// Which of the tree's places, counted from 0 in the order of its groups, a task has.
    int place(Shape at, Shape box) {
        int number = 0;
        for (std::size_t level = 0; level < tree_.parts.size(); ++level) {
            const Shape& cuts = best(level, box)->cuts;
            int part = 0;
            for (std::size_t i = 0; i < box.size(); ++i) {
                const int inner = box[i] / cuts[i];
                part = part * cuts[i] + at[i] / inner;
                at[i] %= inner;
                box[i] = inner;
            }
            number = number * tree_.parts[level] + part;
        }
        return number;
    }

  private:
    Regular tree_;
    std::vector<std::vector<double>> weights_;  ///< [dimension][term], of an edge on average
    std::map<std::pair<std::size_t, Shape>, std::optional<Way>> found_;
};

}  // namespace

Assignment cartesian(const Problem& problem, const Search& /*search*/) {
    const Graph& graph = problem.graph;
    const Places& places = problem.places;
    if (graph.vertices() != places.count()) return {};
    // It puts one task at each place.
    for (int place = 0; place < places.count(); ++place) {
        if (places.capacity(place) < 1) return {};
    }
    if (std::any_of(graph.fixed.begin(), graph.fixed.end(), [](int place) { return place >= 0; })) return {};
    const Shape dimensions = problem.dimensions.empty() ? recognised(graph) : problem.dimensions;
    auto tree = regular(places);
    if (dimensions.empty() || !tree) return {};
    Boxes boxes(graph, dimensions, std::move(*tree));
    if (!boxes.best(0, dimensions)) return {};
    // Places in the order of the tree's groups, which their numbers need not follow.
    std::vector<int> order(static_cast<std::size_t>(places.count()));
    for (std::size_t p = 0; p < order.size(); ++p) order[p] = static_cast<int>(p);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        for (std::size_t level = 0; level < places.levels(); ++level) {
            if (places.group(level, a) != places.group(level, b))
                return places.group(level, a) < places.group(level, b);
        }
        return false;
    });
    Assignment at;
    for (int task = 0; task < graph.vertices(); ++task) {
        at.push_back(order[static_cast<std::size_t>(boxes.place(coordinates(task, dimensions), dimensions))]);
    }
    return at;
}

}  // namespace isochrone::core::mapping
