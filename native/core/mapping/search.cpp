// SPDX-License-Identifier: BSD-3-Clause
//
// Many starts on all threads, and crossings of what they find.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>

#include "mapping/multisection.hpp"
#include "mapping/optimiser.hpp"
#include "mapping/refine.hpp"

namespace isochrone::core::mapping {

namespace {

struct Found {
    Worth worth;
    Assignment at;
};

/// Calls a function for 0 to count - 1, on several threads. The first exception comes back to the caller.
void in_parallel(int count, int threads, const std::function<void(int)>& function) {
    std::atomic<int> next{0};
    std::exception_ptr failure;
    std::mutex lock;
    const auto work = [&] {
        for (int i = next++; i < count; i = next++) {
            try {
                function(i);
            } catch (...) {
                const std::lock_guard guard(lock);
                if (!failure) failure = std::current_exception();
            }
        }
    };
    std::vector<std::thread> others;
    for (int t = 1; t < std::min(threads, count); ++t) others.emplace_back(work);
    work();
    for (auto& thread : others) thread.join();
    if (failure) std::rethrow_exception(failure);
}

Random random_of(const Search& search, std::uint64_t number) {
    Random mixed(search.seed * 0x9e3779b97f4a7c15U + number);
    return Random(mixed.next());
}

bool holds_one_each(const Places& places) {
    return std::all_of(places.capacities().begin(), places.capacities().end(),
                       [](std::int64_t c) { return c <= 1; });
}

/// Whether swaps of single tasks are worth their time: a swap looks at all tasks of a place.
bool is_worth_swaps(const Problem& problem) {
    constexpr std::int64_t most_tasks_a_place = 8;
    return problem.graph.vertices() <= most_tasks_a_place * problem.places.count();
}

/// Refines what no multilevel search reaches: places that are full, or hold one task.
void finish(const Problem& problem, Assignment& at, const Search& search, Random& random) {
    if (search.is_late() || !is_worth_swaps(problem)) return;
    State state(problem.graph, problem.places, at);
    search_swaps(state, random, [&search] { return search.is_late(); });
}

Found start(const Problem& problem, const Search& search, Effort effort, Random& random) {
    effort.is_late = [&search] { return search.is_late(); };
    Assignment at = multisected(problem.graph, problem.places, effort, random);
    if (!holds_one_each(problem.places)) {
        for (int i = 0; i < 2 && !search.is_late(); ++i) {
            cycle(problem.graph, problem.places, at, nullptr, effort, random);
        }
    }
    finish(problem, at, search, random);
    const Worth value = worth(problem.graph, problem.places, at);
    return {value, std::move(at)};
}

Effort quick() {
    Effort effort;
    effort.starts = 1;
    effort.steps = effort.cycles = effort.crossings = 0;
    return effort;
}

/// Most of what a thorough start gains, in a third of its time.
Effort middle() {
    Effort effort = quick();
    effort.steps = 1;
    return effort;
}

Effort deep() {
    Effort effort;
    effort.is_deep = true;
    return effort;
}

Effort packing() {
    Effort effort;
    effort.packs = true;
    return effort;
}

/// Whether there is so much room that some groups may better stay empty.
bool has_much_room(const Problem& problem) {
    constexpr double much = 1.2;
    const auto& capacities = problem.places.capacities();
    const auto room =
        static_cast<double>(std::accumulate(capacities.begin(), capacities.end(), std::int64_t{0}));
    return room > much * problem.graph.vertices();
}

/// A population of mappings, best first.
class Population {
  public:
    Population(const Problem& problem, const Search& search, std::vector<Found> found)
        : problem_(problem), search_(search), found_(std::move(found)) {}

    void evolve() {
        using Clock = std::chrono::steady_clock;
        const auto begin = Clock::now();
        start_each({quick(), quick()});
        const double quick_s = std::chrono::duration<double>(Clock::now() - begin).count();
        // A start takes as long as so many quick ones.
        constexpr double of_middle = 3;
        constexpr double of_thorough = 10;
        std::vector<Effort> all{{}, {}, deep()};
        if (has_much_room(problem_)) all.insert(all.end(), 2, packing());
        const auto affordable = [&]() -> std::vector<Effort> {
            if (search_.left_s() > of_thorough * quick_s) return all;
            if (search_.left_s() > of_middle * quick_s) return {middle(), middle()};
            return {quick(), quick()};
        };
        start_each(affordable());
        // Where a place holds one task there is nothing to coarsen within it, and so no crossing.
        const bool crosses = !holds_one_each(problem_.places);
        const int usual_rounds = crosses ? 2 : 1;
        for (int round = 0; !search_.is_late() && (search_.goes_on || round < usual_rounds); ++round) {
            if (crosses) cross();
            if (crosses && !search_.goes_on) continue;
            start_each(affordable());
        }
    }

    [[nodiscard]] const Found& best() const { return found_.front(); }

  private:
    /// Mappings made in parallel, each with random numbers of its own.
    void add(int count, const std::function<Found(int, Random&)>& make) {
        constexpr std::size_t most_kept = 12;
        std::vector<Found> made(static_cast<std::size_t>(count));
        in_parallel(count, search_.threads, [&](int i) {
            // One at least: there has to be something.
            if (made_ + i > 0 && search_.is_late()) return;
            Random random = random_of(search_, static_cast<std::uint64_t>(made_ + i));
            made[static_cast<std::size_t>(i)] = make(i, random);
        });
        made_ += count;
        for (Found& each : made) {
            if (!each.at.empty()) found_.push_back(std::move(each));
        }
        std::stable_sort(found_.begin(), found_.end(),
                         [](const Found& a, const Found& b) { return a.worth < b.worth; });
        // Copies of one mapping would crowd out the others.
        const auto same = [](const Found& x, const Found& y) { return x.at == y.at; };
        found_.erase(std::unique(found_.begin(), found_.end(), same), found_.end());
        if (found_.size() > most_kept) found_.resize(most_kept);
    }

    void start_each(const std::vector<Effort>& efforts) {
        add(static_cast<int>(efforts.size()), [&](int i, Random& random) {
            return start(problem_, search_, efforts[static_cast<std::size_t>(i)], random);
        });
    }

    /// Each with another: the child begins as the better of the two.
    void cross() {
        if (found_.size() < 2) return;
        const std::vector<Found> parents = found_;
        add(static_cast<int>(parents.size()), [&](int i, Random& random) {
            auto a = static_cast<std::size_t>(i);
            std::size_t b = random.below(parents.size() - 1);
            if (b >= a) ++b;
            if (b < a) std::swap(a, b);
            Found child = parents[a];
            Effort effort;
            effort.is_late = [this] { return search_.is_late(); };
            cycle(problem_.graph, problem_.places, child.at, &parents[b].at, effort, random);
            child.worth = worth(problem_.graph, problem_.places, child.at);
            return child;
        });
    }

    const Problem& problem_;
    const Search& search_;
    std::vector<Found> found_;
    int made_ = 0;  ///< so far
};

}  // namespace

Assignment multisection(const Problem& problem, const Search& search) {
    Random random = random_of(search, 0);
    return start(problem, search, {}, random).at;
}

Assignment portfolio(const Problem& problem, const Search& search) {
    std::vector<Found> found;
    for (const Optimiser& optimiser : optimisers()) {
        if (optimiser.function == portfolio || optimiser.function == multisection) continue;
        if (optimiser.function == swaps && !is_worth_swaps(problem)) continue;
        if (search.is_late() && optimiser.function != identity) continue;
        Assignment at = optimiser.function(problem, search);
        if (at.empty()) continue;
        const Worth value = worth(problem.graph, problem.places, at);
        found.push_back({value, std::move(at)});
    }
    Population population(problem, search, std::move(found));
    population.evolve();
    Assignment at = population.best().at;
    Random random = random_of(search, 0);
    finish(problem, at, search, random);
    return at;
}

}  // namespace isochrone::core::mapping
