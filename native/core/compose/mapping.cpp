// SPDX-License-Identifier: BSD-3-Clause
#include "compose/mapping.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <tuple>

namespace isochrone::core::compose {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// The ranks that have no position yet.
class Unplaced {
  public:
    virtual ~Unplaced() = default;
    virtual void take(int rank) = 0;
    /// There must be one.
    virtual int closest_to(int rank) = 0;
};

/// By their groups.
class ByLevels : public Unplaced {
  public:
    explicit ByLevels(const place::Layout& layout) : group_of_(layout.group_of), is_taken_(at(layout.size)) {
        group_of_.emplace(group_of_.begin(), at(layout.size), 0);  // whatever the levels are, all in one
        groups_.resize(group_of_.size());
        for (std::size_t level = 0; level < group_of_.size(); ++level) {
            for (int rank = 0; rank < layout.size; ++rank)
                groups_[level][group_of_[level][at(rank)]].push_back(rank);
        }
    }

    void take(int rank) override { is_taken_[at(rank)] = true; }

    int closest_to(int rank) override {
        for (std::size_t level = group_of_.size() - 1;; --level) {
            auto& group = groups_[level][group_of_[level][at(rank)]];
            while (!group.empty() && is_taken_[at(group.front())]) group.pop_front();
            if (!group.empty()) return group.front();
        }
    }

  private:
    std::vector<std::vector<int>> group_of_;
    std::vector<bool> is_taken_;
    std::vector<std::map<int, std::deque<int>>> groups_;
};

/// By the delays between their hosts.
class ByDelays : public Unplaced {
  public:
    explicit ByDelays(const place::Layout& layout) : layout_(layout), on_host_(layout.delays->hosts) {
        for (int rank = 0; rank < layout.size; ++rank) on_host_[at(layout.host_of[at(rank)])].push_back(rank);
        std::vector<int> hosts;
        for (std::size_t host = 0; host < on_host_.size(); ++host) {
            if (!on_host_[host].empty()) hosts.push_back(static_cast<int>(host));
        }
        from_.resize(on_host_.size());
        for (const int host : hosts) {
            for (const int other : hosts) {
                if (other != host) from_[at(host)] += layout.delays->between(host, other);
            }
        }
    }

    void take(int rank) override {
        auto& ranks = on_host_[at(layout_.host_of[at(rank)])];
        ranks.erase(std::lower_bound(ranks.begin(), ranks.end(), rank));
    }

    int closest_to(int rank) override {
        const int host = layout_.host_of[at(rank)];
        if (!on_host_[at(host)].empty()) {
            const auto& here = on_host_[at(host)];
            return *std::min_element(here.begin(), here.end(), [&](int a, int b) {
                return std::pair(-layout_.meet(rank, a), a) < std::pair(-layout_.meet(rank, b), b);
            });
        }
        std::tuple<float, double, int, int> best;
        bool has_one = false;
        for (std::size_t other = 0; other < on_host_.size(); ++other) {
            if (on_host_[other].empty()) continue;
            const float delay = layout_.delays->between(host, static_cast<int>(other));
            if (has_one && delay > std::get<0>(best)) continue;
            const int first = on_host_[other].front();
            const std::tuple found(delay, from_[other], -layout_.meet(rank, first), first);
            if (!has_one || found < best) best = found;
            has_one = true;
        }
        return std::get<3>(best);
    }

  private:
    const place::Layout& layout_;
    std::vector<std::vector<int>> on_host_;  // ascending
    // Of all delays from a host: a slow root is equally far from all, and what it sends to first is to be
    // fast. The sums of floats are exact, so that equal hosts are equal.
    std::vector<double> from_;
};

/// [position], messages one after the other that the longest path below it takes.
std::vector<int> paths_below(const std::vector<algorithms::trees::Node>& nodes) {
    std::vector<int> order{0};
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto& children = nodes[at(order[i])].children;
        order.insert(order.end(), children.begin(), children.end());
    }
    std::vector<int> result(nodes.size());
    for (std::size_t i = order.size(); i-- > 1;) {
        const int position = order[i];
        int& above = result[at(nodes[at(position)].parent)];
        above = std::max(above, 1 + result[at(position)]);
    }
    return result;
}

std::unique_ptr<Unplaced> all_of(const place::Layout& layout) {
    if (layout.delays != nullptr) return std::make_unique<ByDelays>(layout);
    return std::make_unique<ByLevels>(layout);
}

}  // namespace

std::vector<int> mapped(const place::Layout& layout, algorithms::trees::Tree tree, int parameter, int root,
                        Walk walk) {
    std::vector<algorithms::trees::Node> nodes;
    for (int position = 0; position < layout.size; ++position)
        nodes.push_back(tree(layout.size, position, parameter));
    const auto paths = walk == Walk::longest_first ? paths_below(nodes) : std::vector<int>{};
    std::vector<int> rank_at(at(layout.size));
    const auto unplaced = all_of(layout);
    std::deque<int> next{0};
    while (!next.empty()) {
        // Of equal ones the first that came.
        const auto chosen = walk != Walk::longest_first
                                ? next.begin()
                                : std::max_element(next.begin(), next.end(),
                                                   [&](int a, int b) { return paths[at(a)] < paths[at(b)]; });
        const int position = *chosen;
        next.erase(chosen);
        const auto& node = nodes[at(position)];
        const int rank = node.parent < 0 ? root : unplaced->closest_to(rank_at[at(node.parent)]);
        rank_at[at(position)] = rank;
        unplaced->take(rank);
        next.insert(walk == Walk::depth_first ? next.begin() : next.end(), node.children.begin(),
                    node.children.end());
    }
    return rank_at;
}

}  // namespace isochrone::core::compose
