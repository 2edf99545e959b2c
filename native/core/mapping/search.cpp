// SPDX-License-Identifier: BSD-3-Clause
//
// Many starts on all threads, and crossings of what they find.
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>

#include "mapping/multilevel.hpp"
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
    search_swaps(state, random);
}

Found start(const Problem& problem, const Search& search, Effort effort, std::uint64_t number) {
    Random random = random_of(search, number);
    effort.is_late = search.is_late;
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

/// The efforts of the first starts: quick, so that there is something early; then thorough.
std::vector<Effort> efforts(const Problem& problem) {
    Effort quick;
    quick.starts = 1;
    quick.steps = quick.cycles = quick.crossings = 0;
    std::vector<Effort> found{quick, {}, {}};
    // With much room, some groups may better stay empty.
    constexpr double much = 1.2;
    const auto& capacities = problem.places.capacities();
    const auto room =
        static_cast<double>(std::accumulate(capacities.begin(), capacities.end(), std::int64_t{0}));
    if (room > much * problem.graph.vertices()) {
        for (std::size_t i = 1; i < 3; ++i) {
            found.emplace_back();
            found.back().packs = true;
        }
    }
    return found;
}

/// Starts and crossings into `found`, best first.
void evolve(const Problem& problem, const Search& search, std::vector<Found>& found) {
    constexpr int rounds = 2;
    constexpr std::size_t most_kept = 12;
    const std::vector<Effort> first = efforts(problem);
    const auto better = [](const Found& a, const Found& b) { return a.worth < b.worth; };
    std::uint64_t number = 0;
    const auto add = [&](int count, const std::function<Found(int, std::uint64_t)>& make) {
        std::vector<Found> made(static_cast<std::size_t>(count));
        in_parallel(count, search.threads, [&](int i) {
            // The first one always: there has to be something.
            if (number + static_cast<std::uint64_t>(i) > 0 && search.is_late()) return;
            made[static_cast<std::size_t>(i)] = make(i, number + static_cast<std::uint64_t>(i));
        });
        number += static_cast<std::uint64_t>(count);
        for (Found& each : made) {
            if (!each.at.empty()) found.push_back(std::move(each));
        }
        std::stable_sort(found.begin(), found.end(), better);
        if (found.size() > most_kept) found.resize(most_kept);
    };
    add(static_cast<int>(first.size()), [&](int i, std::uint64_t n) {
        return start(problem, search, first[static_cast<std::size_t>(i)], n);
    });
    const bool crosses = !holds_one_each(problem.places);
    for (int round = 0; !search.is_late() && (search.goes_on || round < rounds); ++round) {
        if (crosses && found.size() > 1) {
            const auto count = static_cast<int>(found.size());
            add(count, [&](int i, std::uint64_t n) {
                Random random = random_of(search, n);
                std::size_t a = static_cast<std::size_t>(i), b = random.below(found.size() - 1);
                if (b >= a) ++b;
                Found child = found[std::min(a, b)];
                Effort effort;
                effort.is_late = search.is_late;
                cycle(problem.graph, problem.places, child.at, &found[std::max(a, b)].at, effort, random);
                child.worth = worth(problem.graph, problem.places, child.at);
                return child;
            });
            // Copies of one mapping would crowd out the others.
            const auto same = [](const Found& x, const Found& y) { return x.at == y.at; };
            found.erase(std::unique(found.begin(), found.end(), same), found.end());
        }
        if (search.goes_on) {
            add(search.threads, [&](int i, std::uint64_t n) {
                return start(problem, search, first[1 + static_cast<std::size_t>(i) % (first.size() - 1)], n);
            });
        }
    }
}

}  // namespace

Assignment multisection(const Problem& problem, const Search& search) {
    return start(problem, search, efforts(problem)[1], 0).at;
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
    evolve(problem, search, found);
    Found& best = *std::min_element(found.begin(), found.end(),
                                    [](const Found& a, const Found& b) { return a.worth < b.worth; });
    Random random = random_of(search, 0);
    Assignment refined = best.at;
    finish(problem, refined, search, random);
    return worth(problem.graph, problem.places, refined) < best.worth ? refined : best.at;
}

}  // namespace isochrone::core::mapping
