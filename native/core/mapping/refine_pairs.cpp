// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "mapping/refine.hpp"

namespace isochrone::core::mapping {

namespace {

struct Move {
    double gain;
    std::uint32_t tie;
    int vertex;
    std::uint32_t stamp;
    bool operator<(const Move& other) const {
        return gain != other.gain ? gain < other.gain : tie < other.tie;
    }
};

struct Pair {
    int a, b;
    std::vector<int> border;
};

class PairSearch {
  public:
    PairSearch(State& state, int fruitless, Random& random)
        : state_(state),
          fruitless_(fruitless),
          random_(random),
          ties_(state.places),
          stamp_(state.at.size(), 0),
          round_(state.at.size(), 0) {
        for (const std::int64_t size : state.graph.sizes) largest_ = std::max(largest_, size);
    }

    bool run(int rounds) {
        std::vector<char> active(static_cast<std::size_t>(state_.places.count()), 1);
        bool any = false;
        for (int round = 0; round < rounds; ++round) {
            std::vector<Pair> pairs = borders(active);
            random_.shuffle(pairs);
            std::fill(active.begin(), active.end(), 0);
            bool better = false;
            for (const Pair& pair : pairs) {
                if (!search(pair)) continue;
                better = true;
                active[static_cast<std::size_t>(pair.a)] = active[static_cast<std::size_t>(pair.b)] = 1;
            }
            if (!better) break;
            any = true;
        }
        return any;
    }

  private:
    /// The pairs of places with an edge between them, one of them active, each with the vertices at such
    /// edges.
    std::vector<Pair> borders(const std::vector<char>& active) const {
        std::vector<Pair> pairs;
        std::unordered_map<std::uint64_t, std::size_t> number;
        std::vector<int> seen;
        for (int vertex = 0; vertex < state_.graph.vertices(); ++vertex) {
            const auto v = static_cast<std::size_t>(vertex);
            if (state_.is_fixed(vertex)) continue;
            const int own = state_.at[v];
            seen.clear();
            for (std::size_t e = state_.graph.first[v]; e < state_.graph.first[v + 1]; ++e) {
                const int other = state_.at[static_cast<std::size_t>(state_.graph.neighbours[e])];
                if (other == own || std::find(seen.begin(), seen.end(), other) != seen.end()) continue;
                seen.push_back(other);
                if (!active[static_cast<std::size_t>(own)] && !active[static_cast<std::size_t>(other)])
                    continue;
                const int a = std::min(own, other), b = std::max(own, other);
                const auto key = (static_cast<std::uint64_t>(a) << 32) | static_cast<std::uint32_t>(b);
                const auto [found, is_new] = number.emplace(key, pairs.size());
                if (is_new) pairs.push_back({a, b, {}});
                pairs[found->second].border.push_back(vertex);
            }
        }
        return pairs;
    }

    void look(int vertex, int a, int b) {
        const auto v = static_cast<std::size_t>(vertex);
        ++stamp_[v];
        ties_.collect(state_.graph, state_.at, vertex);
        const bool is_at_a = state_.at[v] == a;
        const double gain = ties_.cost_at(state_.at[v]) - ties_.cost_at(is_at_a ? b : a);
        auto& queue = queues_[is_at_a ? 0 : 1];
        queue.push_back({gain, static_cast<std::uint32_t>(random_.next()), vertex, stamp_[v]});
        std::push_heap(queue.begin(), queue.end());
    }

    /// Takes moves that no longer count from the top.
    bool has_move(std::vector<Move>& queue) {
        while (!queue.empty() &&
               stamp_[static_cast<std::size_t>(queue.front().vertex)] != queue.front().stamp) {
            std::pop_heap(queue.begin(), queue.end());
            queue.pop_back();
        }
        return !queue.empty();
    }

    [[nodiscard]] std::int64_t too_much(int a, int b) const {
        return std::max<std::int64_t>(0, -state_.room(a)) + std::max<std::int64_t>(0, -state_.room(b));
    }

    bool search(const Pair& pair) {
        ++search_;
        done_.clear();
        for (auto& queue : queues_) queue.clear();
        for (const int vertex : pair.border) {
            const int place = state_.at[static_cast<std::size_t>(vertex)];
            if (place == pair.a || place == pair.b) look(vertex, pair.a, pair.b);
        }
        const std::int64_t first_over = too_much(pair.a, pair.b);
        std::int64_t least_over = first_over;
        double gained = 0, best = 0;
        std::size_t best_length = 0;
        while (done_.size() - best_length < static_cast<std::size_t>(fruitless_)) {
            const bool from_a = has_move(queues_[0]), from_b = has_move(queues_[1]);
            if (!from_a && !from_b) break;
            const std::int64_t room_a = state_.room(pair.a), room_b = state_.room(pair.b);
            bool takes_a = from_a && (!from_b || queues_[1].front() < queues_[0].front());
            if (room_a < 0 && from_a) takes_a = true;
            if (room_b < 0 && from_b && room_b < room_a) takes_a = false;
            const int target = takes_a ? pair.b : pair.a;
            auto& queue = queues_[takes_a ? 0 : 1];
            std::pop_heap(queue.begin(), queue.end());
            const Move move = queue.back();
            queue.pop_back();
            const auto v = static_cast<std::size_t>(move.vertex);
            // A place that is full takes no more than is above it by one vertex.
            if ((takes_a ? room_b : room_a) + largest_ < state_.graph.sizes[v]) continue;
            done_.push_back({move.vertex, state_.at[v]});
            round_[v] = search_;
            ++stamp_[v];
            state_.move(move.vertex, target);
            gained += move.gain;
            const std::int64_t over = too_much(pair.a, pair.b);
            if (over < least_over || (over == least_over && gained > best + state_.tiny)) {
                least_over = over;
                best = gained;
                best_length = done_.size();
            }
            for (std::size_t e = state_.graph.first[v]; e < state_.graph.first[v + 1]; ++e) {
                const int neighbour = state_.graph.neighbours[e];
                const auto u = static_cast<std::size_t>(neighbour);
                if (round_[u] == search_ || state_.is_fixed(neighbour)) continue;
                if (state_.at[u] == pair.a || state_.at[u] == pair.b) look(neighbour, pair.a, pair.b);
            }
        }
        while (done_.size() > best_length) {
            state_.move(done_.back().first, done_.back().second);
            done_.pop_back();
        }
        return best_length > 0;
    }

    State& state_;
    int fruitless_;
    Random& random_;
    Ties ties_;
    std::vector<std::uint32_t> stamp_;  ///< [vertex], of the move in a queue that counts
    std::vector<int> round_;            ///< [vertex], the search in which it moved last
    std::vector<Move> queues_[2];       ///< moves out of a, and out of b
    std::vector<std::pair<int, int>> done_;
    std::int64_t largest_ = 0;
    int search_ = 0;
};

}  // namespace

bool search_pairs(State& state, int fruitless, int rounds, Random& random) {
    return PairSearch(state, fruitless, random).run(rounds);
}

}  // namespace isochrone::core::mapping
