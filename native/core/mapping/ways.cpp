// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/ways.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "mapping/random.hpp"

namespace isochrone::core::mapping {
namespace {

std::size_t as_index(int number) { return static_cast<std::size_t>(number); }

/// Bytes that leave, and that come.
struct Both {
    double out = 0;
    double in = 0;

    Both& operator+=(const Both& other) {
        out += other.out;
        in += other.in;
        return *this;
    }
    friend Both operator-(const Both& a, const Both& b) { return {a.out - b.out, a.in - b.in}; }
    [[nodiscard]] Both back() const { return {in, out}; }
    [[nodiscard]] Both not_negative() const { return {std::max(0.0, out), std::max(0.0, in)}; }
};

/// How busy all ways are under a mapping that changes.
class Ways {
  public:
    Ways(const Problem& problem, const Directions& bytes, const WayPrices& prices, const Assignment& at)
        : graph_(problem.graph), places_(problem.places), bytes_(bytes), prices_(prices) {
        check();
        for (int v = 0; v < graph_.vertices(); ++v) degrees_.push_back(sum(v, [](int) { return true; }));
        crossing_.resize(prices.size());
        for (std::size_t level = 1; level < prices.size(); ++level) {
            crossing_[level].resize(prices[level].size());
            for (int v = 0; v < graph_.vertices(); ++v) {
                const int group = places_.group(level, at[as_index(v)]);
                crossing_[level][as_index(group)] += degree(v) - tied(v, level, group, at);
            }
        }
    }

    struct Way {
        std::size_t level = 0;
        int group = 0;
        double busy = 0;
    };

    /// Groups whose ways are busy at all, the busiest first.
    [[nodiscard]] std::vector<Way> ranked() const {
        std::vector<Way> all;
        for (std::size_t level = 1; level < prices_.size(); ++level) {
            for (std::size_t group = 0; group < prices_[level].size(); ++group) {
                const Both& bytes = crossing_[level][group];
                const double busy = prices_[level][group] * std::max(bytes.out, bytes.in);
                if (busy > 0) all.push_back({level, static_cast<int>(group), busy});
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
        Both between;
        if (change.other >= 0) between = weight_between(change.task, change.other);
        double sum = 0;
        for (std::size_t level = 1; level < prices_.size(); ++level) {
            const int a = places_.group(level, from);
            const int b = places_.group(level, change.place);
            if (a == b) continue;
            Both to_a = goes(change.task, level, a, at);
            Both to_b = comes(change.task, level, b, at);
            if (change.other >= 0) {
                to_a += comes(change.other, level, a, at);
                to_b += goes(change.other, level, b, at);
                // What the two send each other crosses both borders before and after, the other way round.
                const double twice = between.out + between.in;
                to_a += {twice, twice};
                to_b += {twice, twice};
            }
            for (const auto& [group, by] : {std::pair{a, to_a}, std::pair{b, to_b}}) {
                Both& now = crossing_[level][as_index(group)];
                Both then = now;
                then = (then += by).not_negative();
                const double price = prices_[level][as_index(group)] / unit;
                sum += power(price * then.out) - power(price * now.out);
                sum += power(price * then.in) - power(price * now.in);
                if (apply) now = then;
            }
        }
        if (apply) {
            at[as_index(change.task)] = change.place;
            if (change.other >= 0) at[as_index(change.other)] = from;
        }
        return sum;
    }

  private:
    void check() const {
        bool fits = prices_.size() == places_.levels() && bytes_.out.size() == graph_.neighbours.size() &&
                    bytes_.in.size() == graph_.neighbours.size();
        for (std::size_t level = 0; fits && level < prices_.size(); ++level) {
            for (int place = 0; place < places_.count(); ++place)
                fits = fits && as_index(places_.group(level, place)) < prices_[level].size();
        }
        if (!fits) throw std::invalid_argument("the bytes or prices of ways do not fit the problem");
    }

    static double power(double x) {
        const double square = x * x;
        return square * square * square * square;
    }

    /// What changes for a group that a task leaves: what the others in it send the task begins to cross.
    [[nodiscard]] Both goes(int vertex, std::size_t level, int group, const Assignment& at) const {
        const Both inside = tied(vertex, level, group, at);
        Both change = inside.back();
        return change += inside - degree(vertex);
    }

    /// ... and for one that it joins.
    [[nodiscard]] Both comes(int vertex, std::size_t level, int group, const Assignment& at) const {
        const Both inside = tied(vertex, level, group, at);
        Both change = degree(vertex) - inside;
        return change += Both{} - inside.back();
    }

    template <class Counts>
    [[nodiscard]] Both sum(int vertex, Counts&& counts) const {
        Both all;
        for (std::size_t e = graph_.first[as_index(vertex)]; e < graph_.first[as_index(vertex) + 1]; ++e) {
            if (counts(graph_.neighbours[e])) all += {bytes_.out[e], bytes_.in[e]};
        }
        return all;
    }
    [[nodiscard]] const Both& degree(int vertex) const { return degrees_[as_index(vertex)]; }
    /// With the tasks of a group.
    [[nodiscard]] Both tied(int vertex, std::size_t level, int group, const Assignment& at) const {
        return sum(vertex, [&](int other) { return places_.group(level, at[as_index(other)]) == group; });
    }
    [[nodiscard]] Both weight_between(int vertex, int other) const {
        return sum(vertex, [other](int neighbour) { return neighbour == other; });
    }

    const Graph& graph_;
    const Places& places_;
    const Directions& bytes_;
    const WayPrices& prices_;
    std::vector<Both> degrees_;                ///< [vertex], of all its edges
    std::vector<std::vector<Both>> crossing_;  ///< [level][group]
};

/// Looks for changes that relieve one way after the other, the busiest first.
class Relief {
  public:
    Relief(const Problem& problem, const Directions& bytes, const WayPrices& prices, Assignment at,
           const Search& search)
        : problem_(problem),
          search_(search),
          at_(std::move(at)),
          ways_(problem, bytes, prices, at_),
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

double busiest(const Problem& problem, const Directions& bytes, const WayPrices& prices,
               const Assignment& at) {
    const auto ranked = Ways(problem, bytes, prices, at).ranked();
    return ranked.empty() ? 0 : ranked.front().busy;
}

Assignment relieved(const Problem& problem, const Directions& bytes, const WayPrices& prices, Assignment at,
                    const Search& search) {
    const double before = busiest(problem, bytes, prices, at);
    Assignment found = Relief(problem, bytes, prices, at, search).run();
    return busiest(problem, bytes, prices, found) <= before ? found : at;
}

}  // namespace isochrone::core::mapping
