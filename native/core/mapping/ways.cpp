// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/ways.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "mapping/random.hpp"

namespace isochrone::core::mapping {
namespace {

std::size_t as_index(int number) { return static_cast<std::size_t>(number); }

/// How busy all ways are under a mapping that changes.
class Ways {
  public:
    Ways(const Problem& problem, const WayPrices& prices, const Assignment& at)
        : graph_(problem.graph), places_(problem.places), prices_(prices), crossing_(prices.size()) {
        bool fits = prices.size() == places_.levels();
        for (std::size_t level = 0; fits && level < prices.size(); ++level) {
            for (int place = 0; place < places_.count(); ++place)
                fits = fits && as_index(places_.group(level, place)) < prices[level].size();
        }
        if (!fits) throw std::invalid_argument("the prices of ways do not fit the groups");
        for (std::size_t level = 1; level < prices.size(); ++level) {
            crossing_[level].assign(prices[level].size(), 0);
            for (int v = 0; v < graph_.vertices(); ++v) {
                const int group = places_.group(level, at[as_index(v)]);
                const double inside = tied(v, level, group, at);
                crossing_[level][as_index(group)] += degree(v) - inside;
            }
        }
    }

    [[nodiscard]] double busy(std::size_t level, int group) const {
        return prices_[level][as_index(group)] * crossing_[level][as_index(group)];
    }

    struct Way {
        std::size_t level = 0;
        int group = 0;
        double busy = 0;
    };

    /// All that are busy at all, the busiest first.
    [[nodiscard]] std::vector<Way> ranked() const {
        std::vector<Way> all;
        for (std::size_t level = 1; level < prices_.size(); ++level) {
            for (int group = 0; as_index(group) < prices_[level].size(); ++group) {
                if (busy(level, group) > 0) all.push_back({level, group, busy(level, group)});
            }
        }
        std::stable_sort(all.begin(), all.end(), [](const Way& a, const Way& b) { return a.busy > b.busy; });
        return all;
    }

    /// What a swap of two tasks changes, or a move where `other` is -1 and `place` is where `task` goes to.
    struct Change {
        int task = -1;
        int other = -1;
        int place = -1;
    };

    /// The change of the sum of (busy / unit)^8. With `apply` it is made.
    double evaluate(const Change& change, double unit, Assignment& at, bool apply) {
        const int from = at[as_index(change.task)];
        double sum = 0;
        for (std::size_t level = 1; level < prices_.size(); ++level) {
            const int a = places_.group(level, from);
            const int b = places_.group(level, change.place);
            if (a == b) continue;
            // Its edges inside do not cross when it comes, and cross when it goes.
            double to_a = 2 * tied(change.task, level, a, at) - degree(change.task);
            double to_b = degree(change.task) - 2 * tied(change.task, level, b, at);
            if (change.other >= 0) {
                const double between = weight_between(change.task, change.other);
                to_a += degree(change.other) - 2 * tied(change.other, level, a, at) + 2 * between;
                to_b += 2 * tied(change.other, level, b, at) - degree(change.other) + 2 * between;
            }
            for (const auto& [group, by] : {std::pair{a, to_a}, std::pair{b, to_b}}) {
                double& now = crossing_[level][as_index(group)];
                const double price = prices_[level][as_index(group)] / unit;
                sum += power(price * std::max(0.0, now + by)) - power(price * now);
                if (apply) now = std::max(0.0, now + by);
            }
        }
        if (apply) {
            at[as_index(change.task)] = change.place;
            if (change.other >= 0) at[as_index(change.other)] = from;
        }
        return sum;
    }

  private:
    static double power(double x) {
        const double square = x * x;
        return square * square * square * square;
    }

    [[nodiscard]] double degree(int vertex) const {
        double sum = 0;
        for (std::size_t e = graph_.first[as_index(vertex)]; e < graph_.first[as_index(vertex) + 1]; ++e)
            sum += graph_.weight(e)[0];
        return sum;
    }

    /// The weight of a task's edges into a group.
    [[nodiscard]] double tied(int vertex, std::size_t level, int group, const Assignment& at) const {
        double sum = 0;
        for (std::size_t e = graph_.first[as_index(vertex)]; e < graph_.first[as_index(vertex) + 1]; ++e) {
            if (places_.group(level, at[as_index(graph_.neighbours[e])]) == group) sum += graph_.weight(e)[0];
        }
        return sum;
    }

    [[nodiscard]] double weight_between(int vertex, int other) const {
        double sum = 0;
        for (std::size_t e = graph_.first[as_index(vertex)]; e < graph_.first[as_index(vertex) + 1]; ++e) {
            if (graph_.neighbours[e] == other) sum += graph_.weight(e)[0];
        }
        return sum;
    }

    const Graph& graph_;
    const Places& places_;
    const WayPrices& prices_;
    std::vector<std::vector<double>> crossing_;  ///< [level][group]
};

/// Looks for changes that relieve one way after the other, the busiest first.
class Relief {
  public:
    Relief(const Problem& problem, const WayPrices& prices, Assignment at, const Search& search)
        : problem_(problem),
          search_(search),
          at_(std::move(at)),
          ways_(problem, prices, at_),
          loads_(loads(problem.graph, problem.places, at_)),
          random_(search.seed) {}

    Assignment run() {
        // A few ways that nothing relieves are passed over. Each change is for the better, but there may be
        // very many that are so by very little.
        constexpr std::size_t most_passed = 4;
        constexpr int most_changes_a_task = 20;
        int left = most_changes_a_task * problem_.graph.vertices();
        for (std::size_t passed = 0; passed < most_passed && left > 0 && !search_.is_late();) {
            const auto ranked = ways_.ranked();
            if (passed >= ranked.size()) break;
            unit_ = ranked.front().busy;
            passed = relieve(ranked[passed]) ? 0 : passed + 1;
            --left;
        }
        return std::move(at_);
    }

  private:
    /// Makes one change that is for the better, if there is one.
    bool relieve(const Ways::Way& way) {
        std::vector<int> inside;
        std::vector<int> outside;
        for (int v = 0; v < problem_.graph.vertices(); ++v) {
            const bool is_in = problem_.places.group(way.level, at_[as_index(v)]) == way.group;
            if (problem_.graph.fixed[as_index(v)] < 0) (is_in ? inside : outside).push_back(v);
        }
        std::vector<int> with_room;
        for (int place = 0; place < problem_.places.count(); ++place) {
            const bool is_in = problem_.places.group(way.level, place) == way.group;
            if (!is_in && loads_[as_index(place)] < problem_.places.capacity(place))
                with_room.push_back(place);
        }
        random_.shuffle(inside);
        for (const int task : inside) {
            if (search_.is_late()) break;
            const Ways::Change best = best_change(task, outside, with_room);
            if (best.task < 0) continue;
            const int from = at_[as_index(task)];
            ways_.evaluate(best, unit_, at_, true);
            if (best.other < 0) {
                --loads_[as_index(from)];
                ++loads_[as_index(best.place)];
            }
            return true;
        }
        return false;
    }

    Ways::Change best_change(int task, const std::vector<int>& others, const std::vector<int>& with_room) {
        constexpr std::size_t most_tried = 64;
        constexpr double tiny = 1e-9;
        Ways::Change best;
        double least = -tiny;
        const auto look = [&](const Ways::Change& change) {
            const double by = ways_.evaluate(change, unit_, at_, false);
            if (by < least) {
                least = by;
                best = change;
            }
        };
        const auto some = [&](const std::vector<int>& all, auto&& visit) {
            for (std::size_t i = 0; i < std::min(all.size(), most_tried); ++i)
                visit(all.size() <= most_tried ? all[i] : all[random_.below(all.size())]);
        };
        some(others, [&](int other) { look({task, other, at_[as_index(other)]}); });
        some(with_room, [&](int place) { look({task, -1, place}); });
        return best;
    }

    const Problem& problem_;
    const Search& search_;
    Assignment at_;
    Ways ways_;
    std::vector<std::int64_t> loads_;
    Random random_;
    double unit_ = 1;
};

}  // namespace

double busiest(const Problem& problem, const WayPrices& prices, const Assignment& at) {
    const auto ranked = Ways(problem, prices, at).ranked();
    return ranked.empty() ? 0 : ranked.front().busy;
}

Assignment relieved(const Problem& problem, const WayPrices& prices, Assignment at, const Search& search) {
    const double before = busiest(problem, prices, at);
    Assignment found = Relief(problem, prices, at, search).run();
    return busiest(problem, prices, found) <= before ? found : at;
}

}  // namespace isochrone::core::mapping
