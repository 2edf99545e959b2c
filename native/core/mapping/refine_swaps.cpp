// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "mapping/refine.hpp"

namespace isochrone::core::mapping {

namespace {

class SwapSearch {
  public:
    SwapSearch(State& state, Random& random)
        : state_(state),
          random_(random),
          mine_(state.places),
          theirs_(state.places),
          members_(static_cast<std::size_t>(state.places.count())),
          mates_(group_members(state.places)),
          is_seen_(static_cast<std::size_t>(state.places.count()), 0),
          is_waiting_(state.at.size(), 1) {
        for (std::size_t v = 0; v < state.at.size(); ++v) {
            members_[static_cast<std::size_t>(state.at[v])].push_back(static_cast<int>(v));
        }
    }

    double run(const std::function<bool()>& is_late) {
        std::vector<int> waiting;
        for (int v = 0; v < state_.graph.vertices(); ++v) waiting.push_back(v);
        random_.shuffle(waiting);
        double fallen = 0;
        // Whom a swap touched comes again: the list grows while it is walked.
        for (std::size_t i = 0; i < waiting.size() && !is_late(); ++i) {
            const int vertex = waiting[i];
            is_waiting_[static_cast<std::size_t>(vertex)] = 0;
            const double gain = improve(vertex);
            if (gain <= 0) continue;
            fallen += gain;
            for (const int touched : touched_) {
                if (is_waiting_[static_cast<std::size_t>(touched)]) continue;
                is_waiting_[static_cast<std::size_t>(touched)] = 1;
                waiting.push_back(touched);
            }
        }
        return fallen;
    }

  private:
    /// [place], the places of its innermost group.
    static std::vector<std::vector<int>> group_members(const Places& places) {
        const std::size_t inner = places.levels() - 1;
        std::vector<std::vector<int>> members;
        for (int place = 0; place < places.count(); ++place) {
            const auto group = static_cast<std::size_t>(places.group(inner, place));
            if (members.size() <= group) members.resize(group + 1);
            members[group].push_back(place);
        }
        return members;
    }

    double improve(int vertex) {
        if (state_.is_fixed(vertex)) return 0;
        const auto v = static_cast<std::size_t>(vertex);
        const int from = state_.at[v];
        mine_.collect(state_.graph, state_.at, vertex);
        const double here = mine_.cost_at(from);
        const std::size_t inner = state_.places.levels() - 1;
        double best = state_.tiny;
        int best_place = -1, best_other = -1;
        seen_.clear();
        for (const int near : mine_.where()) {
            for (const int place : mates_[static_cast<std::size_t>(state_.places.group(inner, near))]) {
                if (place == from || is_seen_[static_cast<std::size_t>(place)]) continue;
                is_seen_[static_cast<std::size_t>(place)] = 1;
                seen_.push_back(place);
                const double mine = here - mine_.cost_at(place);
                if (state_.room(place) >= state_.graph.sizes[v] && mine > best) {
                    best = mine;
                    best_place = place;
                    best_other = -1;
                }
                for (const int other : members_[static_cast<std::size_t>(place)]) {
                    if (state_.is_fixed(other)) continue;
                    theirs_.collect(state_.graph, state_.at, other);
                    double gain = mine + theirs_.cost_at(place) - theirs_.cost_at(from);
                    if (gain <= best) continue;
                    gain -= 2 * between(vertex, other);
                    if (gain <= best) continue;
                    best = gain;
                    best_place = place;
                    best_other = other;
                }
            }
        }
        for (const int place : seen_) is_seen_[static_cast<std::size_t>(place)] = 0;
        if (best_place < 0) return 0;
        touched_.clear();
        settle(vertex, best_place);
        if (best_other >= 0) settle(best_other, from);
        return best;
    }

    /// What the edge between two tasks costs: it stays as long as it is when they swap.
    [[nodiscard]] double between(int a, int b) const {
        const auto v = static_cast<std::size_t>(a);
        double sum = 0;
        for (std::size_t e = state_.graph.first[v]; e < state_.graph.first[v + 1]; ++e) {
            if (state_.graph.neighbours[e] != b) continue;
            const double* distances =
                state_.places.distances(state_.at[v], state_.at[static_cast<std::size_t>(b)]);
            for (int t = 0; t < state_.graph.terms; ++t) sum += state_.graph.weight(e)[t] * distances[t];
        }
        return sum;
    }

    void settle(int vertex, int place) {
        const auto v = static_cast<std::size_t>(vertex);
        auto& old = members_[static_cast<std::size_t>(state_.at[v])];
        *std::find(old.begin(), old.end(), vertex) = old.back();
        old.pop_back();
        members_[static_cast<std::size_t>(place)].push_back(vertex);
        state_.move(vertex, place);
        touched_.push_back(vertex);
        for (std::size_t e = state_.graph.first[v]; e < state_.graph.first[v + 1]; ++e) {
            touched_.push_back(state_.graph.neighbours[e]);
        }
    }

    State& state_;
    Random& random_;
    Ties mine_, theirs_;
    std::vector<std::vector<int>> members_;  ///< [place], the tasks there
    std::vector<std::vector<int>> mates_;    ///< [innermost group], its places
    std::vector<char> is_seen_;              ///< [place]
    std::vector<int> seen_;
    std::vector<char> is_waiting_;  ///< [vertex]
    std::vector<int> touched_;
};

}  // namespace

double search_swaps(State& state, Random& random, const std::function<bool()>& is_late) {
    return SwapSearch(state, random).run(is_late);
}

void unload(State& state) {
    Ties ties(state.places);
    std::vector<int> order;
    for (int v = 0; v < state.graph.vertices(); ++v) {
        if (!state.is_fixed(v)) order.push_back(v);
    }
    // Large ones first: what is left of the room is for small ones.
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return state.graph.sizes[static_cast<std::size_t>(a)] >
               state.graph.sizes[static_cast<std::size_t>(b)];
    });
    for (const int vertex : order) {
        const auto v = static_cast<std::size_t>(vertex);
        if (state.room(state.at[v]) >= 0) continue;
        ties.collect(state.graph, state.at, vertex);
        int best = -1;
        double least = 0;
        for (int place = 0; place < state.places.count(); ++place) {
            if (state.room(place) < state.graph.sizes[v]) continue;
            const double cost = ties.cost_at(place);
            if (best < 0 || cost < least) {
                best = place;
                least = cost;
            }
        }
        if (best >= 0) state.move(vertex, best);
    }
}

}  // namespace isochrone::core::mapping
