// SPDX-License-Identifier: BSD-3-Clause
//
// The greedy mapping of Getmanskiy et al.: groups of tasks that exchange much come to one place's group.
// Places are filled in the order of the tree. Each next task is the one with the largest tie to the tasks of
// the innermost group that is being filled; where none is tied to it, to all that are placed; and a first one
// is that with the most traffic.
#include <queue>
#include <utility>

#include "mapping/optimiser.hpp"

namespace isochrone::core::mapping {

namespace {

double total(const Graph& graph, std::size_t end) {
    double sum = 0;
    for (int t = 0; t < graph.terms; ++t) sum += graph.weight(end)[t];
    return sum;
}

/// Tasks by a tie that grows.
class Growing {
  public:
    explicit Growing(std::size_t tasks) : value_(tasks, 0.0) {}
    void add(int task, double tie) { queue_.emplace(value_[static_cast<std::size_t>(task)] += tie, task); }
    void clear() {
        for (; !queue_.empty(); queue_.pop()) value_[static_cast<std::size_t>(queue_.top().second)] = 0;
    }
    /// The task that is tied most and free; -1 for none.
    int take(const Assignment& at) {
        for (; !queue_.empty(); queue_.pop()) {
            const auto [value, task] = queue_.top();
            const auto v = static_cast<std::size_t>(task);
            if (at[v] < 0 && value == value_[v]) return task;
        }
        return -1;
    }

  private:
    std::vector<double> value_;
    std::priority_queue<std::pair<double, int>> queue_;
};

}  // namespace

Assignment greedy(const Problem& problem, const Search& /*search*/) {
    const Graph& graph = problem.graph;
    const Places& places = problem.places;
    const auto count = static_cast<std::size_t>(graph.vertices());
    Assignment at(graph.fixed);
    std::vector<std::int64_t> room = places.capacities();
    std::size_t left = 0;
    Growing to_group(count), to_all(count), traffic(count);
    const auto tie = [&](std::size_t v) {
        for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e) {
            to_group.add(graph.neighbours[e], total(graph, e));
            to_all.add(graph.neighbours[e], total(graph, e));
        }
    };
    for (std::size_t v = 0; v < count; ++v) {
        double sum = 0;
        for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e) sum += total(graph, e);
        traffic.add(static_cast<int>(v), sum);
        if (at[v] >= 0) {
            --room[static_cast<std::size_t>(at[v])];
            tie(v);
        } else {
            ++left;
        }
    }
    const std::size_t inner = places.levels() - 1;
    // Not more at each place than its share, where there are more tasks than places.
    std::int64_t all = 0;
    for (const std::int64_t capacity : places.capacities()) all += capacity;
    int group = -1;
    std::int64_t before = 0;
    std::size_t placed = 0;
    const std::size_t tasks = left;
    const bool shares = count > static_cast<std::size_t>(places.count());
    for (int walk = 0; walk < 2; ++walk) {
        before = 0;
        for (int place = 0; place < places.count(); ++place) {
            before += places.capacity(place);
            if (places.group(inner, place) != group || shares) {
                group = places.group(inner, place);
                to_group.clear();
            }
            auto& here = room[static_cast<std::size_t>(place)];
            while (here > 0 && placed < tasks &&
                   (walk == 1 || !shares ||
                    static_cast<std::int64_t>(placed) * all < before * static_cast<std::int64_t>(tasks))) {
                int task = to_group.take(at);
                if (task < 0) task = to_all.take(at);
                if (task < 0) task = traffic.take(at);
                at[static_cast<std::size_t>(task)] = place;
                --here;
                ++placed;
                tie(static_cast<std::size_t>(task));
            }
        }
    }
    return at;
}

}  // namespace isochrone::core::mapping
