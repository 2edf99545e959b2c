// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <queue>

#include "mapping/refine.hpp"

namespace isochrone::core::mapping {

namespace {

struct Move {
    double gain;
    std::uint32_t tie;
    int vertex;
    int place;
    std::uint32_t stamp;
    bool operator<(const Move& other) const {
        return gain != other.gain ? gain < other.gain : tie < other.tie;
    }
};

class MoveSearch {
  public:
    MoveSearch(State& state, int fruitless, Random& random)
        : state_(state),
          fruitless_(fruitless),
          random_(random),
          ties_(state.places),
          stamp_(state.at.size(), 0),
          is_moved_(state.at.size(), 0) {}

    double run() {
        std::vector<int> starts;
        for (int v = 0; v < state_.graph.vertices(); ++v) {
            if (is_at_border(v)) starts.push_back(v);
        }
        random_.shuffle(starts);
        double fallen = 0;
        for (const int start : starts) {
            if (!is_moved_[static_cast<std::size_t>(start)]) fallen += search_from(start);
        }
        return fallen;
    }

  private:
    [[nodiscard]] bool is_at_border(int vertex) const {
        const auto v = static_cast<std::size_t>(vertex);
        for (std::size_t e = state_.graph.first[v]; e < state_.graph.first[v + 1]; ++e) {
            if (state_.at[static_cast<std::size_t>(state_.graph.neighbours[e])] != state_.at[v]) return true;
        }
        return false;
    }

    /// Puts the best move of a vertex into the queue, in place of what was there.
    void look(int vertex) {
        const auto v = static_cast<std::size_t>(vertex);
        ++stamp_[v];
        if (is_moved_[v] || state_.is_fixed(vertex)) return;
        ties_.collect(state_.graph, state_.at, vertex);
        if (ties_.where().size() == 1 && ties_.where()[0] == state_.at[v]) return;
        int best = -1;
        double least = 0;
        for (const int place : ties_.where()) {
            if (place == state_.at[v] || state_.room(place) < state_.graph.sizes[v]) continue;
            const double cost = ties_.cost_at(place);
            if (best < 0 || cost < least || (cost == least && state_.room(place) > state_.room(best))) {
                best = place;
                least = cost;
            }
        }
        if (best < 0) return;
        queue_.push_back({ties_.cost_at(state_.at[v]) - least, static_cast<std::uint32_t>(random_.next()),
                          vertex, best, stamp_[v]});
        std::push_heap(queue_.begin(), queue_.end());
    }

    double search_from(int start) {
        queue_.clear();
        done_.clear();
        look(start);
        double gained = 0, best = 0;
        std::size_t best_length = 0;
        while (!queue_.empty()) {
            std::pop_heap(queue_.begin(), queue_.end());
            const Move move = queue_.back();
            queue_.pop_back();
            const auto v = static_cast<std::size_t>(move.vertex);
            if (stamp_[v] != move.stamp) continue;
            if (state_.room(move.place) < state_.graph.sizes[v]) {
                look(move.vertex);
                continue;
            }
            done_.push_back({move.vertex, state_.at[v]});
            is_moved_[v] = 1;
            state_.move(move.vertex, move.place);
            gained += move.gain;
            if (gained > best + state_.tiny) {
                best = gained;
                best_length = done_.size();
            } else if (done_.size() - best_length >= static_cast<std::size_t>(fruitless_)) {
                break;
            }
            for (std::size_t e = state_.graph.first[v]; e < state_.graph.first[v + 1]; ++e) {
                const int neighbour = state_.graph.neighbours[e];
                if (!is_moved_[static_cast<std::size_t>(neighbour)]) look(neighbour);
            }
        }
        while (done_.size() > best_length) {
            state_.move(done_.back().first, done_.back().second);
            done_.pop_back();
        }
        return best;
    }

    State& state_;
    int fruitless_;
    Random& random_;
    Ties ties_;
    std::vector<std::uint32_t> stamp_;  ///< [vertex], of the move in the queue that counts
    std::vector<char> is_moved_;        ///< [vertex], in this round
    std::vector<Move> queue_;
    std::vector<std::pair<int, int>> done_;  ///< vertex, where it was
};

}  // namespace

double search_moves(State& state, int fruitless, Random& random) {
    return MoveSearch(state, fruitless, random).run();
}

}  // namespace isochrone::core::mapping
