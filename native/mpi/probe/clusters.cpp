// SPDX-License-Identifier: BSD-3-Clause
#include "probe/clusters.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <stdexcept>
#include <system_error>

namespace isochrone::mpi::probe {

namespace {

constexpr int most_ranks = 1 << 20;
constexpr int most_depth = 128;

std::size_t slot(int number) { return static_cast<std::size_t>(number); }

/// Reads an expression from left to right.
class Cursor {
  public:
    explicit Cursor(std::string_view text) : text_(text) {}

    [[nodiscard]] bool at_end() const { return at_ == text_.size(); }

    [[nodiscard]] bool take(char wanted) {
        if (at_end() || text_[at_] != wanted) return false;
        ++at_;
        return true;
    }

    int rank() {
        int value = 0;
        const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        if (error != std::errc() || text_[at_] == '-' || value >= most_ranks) fail("expected a rank");
        at_ = static_cast<std::size_t>(end - text_.data());
        return value;
    }

    [[noreturn]] void fail(const std::string& what) const {
        throw std::invalid_argument(what + " at character " + std::to_string(at_ + 1) +
                                    ": write clusters as (0-7)(8-15)");
    }

  private:
    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

Clusters::Clusters(std::string_view expression) {
    Cursor cursor(expression);
    int depth = 0;
    int here = open(-1);
    bool group = false;  // whether that is what is open, after its first rank
    while (!cursor.at_end()) {
        if (!group && cursor.take('(')) {
            if (++depth > most_depth) cursor.fail("nested too deep");
            here = open(here);
        } else if (depth > 0 && (group || !parts(here).empty()) && cursor.take(')')) {
            --depth;
            here = around(here);
            group = false;
        } else if (depth > 0 && (group ? cursor.take(',') : parts(here).empty())) {
            const int low = cursor.rank();
            const int high = cursor.take('-') ? cursor.rank() : low;
            if (low > high) cursor.fail("ranks that end before they start");
            for (int rank = low; rank <= high; ++rank) {
                if (slot(rank) < group_.size() && group_[slot(rank)] >= 0)
                    cursor.fail("rank " + std::to_string(rank) + " a second time");
                add(rank, here);
            }
            group = true;
        } else {
            cursor.fail("something unexpected");
        }
    }
    if (depth > 0 || parts(0).empty()) cursor.fail("no end");
}

std::string Clusters::complaint(int ranks) const {
    const auto missing = std::find(group_.begin(), group_.end(), -1);
    const auto first = static_cast<int>(missing - group_.begin());
    if (first < ranks)
        return "rank " + std::to_string(first) + " of " + std::to_string(ranks) + " is in no cluster";
    if (ranks < static_cast<int>(group_.size()))
        return "a cluster has rank " + std::to_string(group_.size() - 1) + ", but there are only " +
               std::to_string(ranks) + " ranks";
    return {};
}

void Clusters::keep_together(const std::vector<int>& machine_of_rank) {
    std::vector<int> home;  // of each machine: the innermost cluster that has all its ranks
    for (std::size_t rank = 0; rank < group_.size(); ++rank) {
        const int machine = machine_of_rank[rank];
        if (slot(machine) >= home.size()) home.resize(slot(machine) + 1, -1);
        int& cluster = home[slot(machine)];
        cluster = cluster < 0 ? group_[rank] : common(cluster, group_[rank]);
    }
    // The outermost first: what is within a cluster has a greater number.
    std::vector<int> whole(slot(count()), -1);
    for (const int cluster : home) {
        if (cluster >= 0) whole[slot(cluster)] = cluster;
    }
    for (int cluster = 1; cluster < count(); ++cluster) {
        const int outer = whole[slot(around(cluster))];
        if (outer >= 0) whole[slot(cluster)] = outer;
    }
    for (int cluster = 0; cluster < count(); ++cluster) {
        if (whole[slot(cluster)] >= 0) parts_[slot(cluster)].clear();
    }
    for (int& group : group_) {
        if (whole[slot(group)] >= 0) group = whole[slot(group)];
    }
}

int Clusters::common(int cluster, int other) const {
    while (cluster != other) {
        // The greater number is of the one further within, or of another branch: it is not around the other.
        int& inner = cluster > other ? cluster : other;
        inner = around(inner);
    }
    return cluster;
}

int Clusters::open(int around) {
    const int cluster = count();
    around_.push_back(around);
    parts_.emplace_back();
    if (around >= 0) parts_[slot(around)].push_back(cluster);
    return cluster;
}

void Clusters::add(int rank, int cluster) {
    if (slot(rank) >= group_.size()) group_.resize(slot(rank) + 1, -1);
    group_[slot(rank)] = cluster;
}

}  // namespace isochrone::mpi::probe
