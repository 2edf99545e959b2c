// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/places.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace isochrone::core::mapping {

namespace {

/// A table of all pairs of more places than these would leave the caches.
constexpr std::size_t most_dense = 2048;

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

}  // namespace

Places::Places(std::vector<std::vector<int>> groups, std::vector<std::vector<std::vector<double>>> distances,
               std::vector<std::int64_t> capacities)
    : groups_(std::move(groups)), capacities_(std::move(capacities)) {
    require(!capacities_.empty(), "there is no place");
    require(!groups_.empty() && groups_.size() == distances.size(), "each level needs its distances");
    terms_ = 0;
    int nodes = 1;
    for (std::size_t level = 0; level < groups_.size(); ++level) {
        require(groups_[level].size() == capacities_.size(), "a level needs a group for each place");
        const auto count = static_cast<int>(distances[level].size());
        std::vector<int> outer(distances[level].size(), -1);
        for (std::size_t place = 0; place < capacities_.size(); ++place) {
            const int group = groups_[level][place];
            require(group >= 0 && group < count, "a group has no distance");
            if (level == 0) continue;
            int& of = outer[static_cast<std::size_t>(group)];
            require(of < 0 || of == groups_[level - 1][place], "a level does not refine the one before");
            of = groups_[level - 1][place];
        }
        require(level > 0 || count == 1, "the outermost level is not one group");
        first_node_.push_back(nodes);
        nodes += count;
        for (const auto& row : distances[level]) {
            if (terms_ == 0) terms_ = static_cast<int>(row.size());
            require(!row.empty() && static_cast<int>(row.size()) == terms_,
                    "a group needs a distance for each term");
            for (const double distance : row)
                require(std::isfinite(distance) && distance >= 0, "a distance is negative");
        }
    }
    table_.assign(static_cast<std::size_t>(terms_), 0.0);
    for (const auto& level : distances) {
        for (const auto& row : level) table_.insert(table_.end(), row.begin(), row.end());
    }
    for (const std::int64_t capacity : capacities_) require(capacity >= 0, "a capacity is negative");
    if (capacities_.size() <= most_dense && nodes <= UINT16_MAX) {
        dense_.reserve(capacities_.size() * capacities_.size());
        for (int a = 0; a < count(); ++a) {
            for (int b = 0; b < count(); ++b) dense_.push_back(static_cast<std::uint16_t>(meet(a, b)));
        }
    }
}

Places Places::star(std::vector<std::int64_t> capacities) {
    const std::size_t count = capacities.size();
    return {{std::vector<int>(count, 0)}, {{{1.0}}}, std::move(capacities)};
}

int Places::meet(int a, int b) const {
    if (a == b) return 0;
    std::size_t level = groups_.size() - 1;
    while (level > 0 && group(level, a) != group(level, b)) --level;
    return first_node_[level] + group(level, a);
}

std::vector<double> Places::distances_of(std::size_t level, int group) const {
    const auto at = static_cast<std::ptrdiff_t>(first_node_[level] + group) * terms_;
    return {table_.begin() + at, table_.begin() + at + terms_};
}

}  // namespace isochrone::core::mapping
