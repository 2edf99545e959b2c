// SPDX-License-Identifier: BSD-3-Clause
//
// An order of pairs of ranks in clusters within clusters, as LGate has it (Reinfjell 2023, section 3.1.1):
// first the pairs within each group, in all groups at once but in each one after the other; then, wherever
// all clusters within one are done, the pairs that have nothing smaller in common than that one. Nobody waits
// for clusters that it has no pair with.
//
//   ((0-1)(2-4))((5)(6-7))
//
//   step         0     1     2     3     4     5     6     7     8     9 ...
//   (0-1)        0-1   |     |
//   (2-4)        2-4   3-4   2-3   |
//   ((0-1)(2-4))                   1-3   0-2   1-4   0-3   0-4   1-2   |
//   (6-7)        6-7   |
//   ((5)(6-7))         5-7   5-6
//   all                                                                2-6   0-7 ...
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "probe/clusters.hpp"
#include "probe/order.hpp"

namespace isochrone::mpi::probe {

class ClusterOrder : public Order {
  public:
    /// `pairs` holds each pair once, of ranks that have a group.
    ClusterOrder(Clusters clusters, std::vector<std::pair<int, int>> pairs, std::uint64_t seed);

    [[nodiscard]] std::int64_t steps() const override { return start_.front() + length(0); }
    [[nodiscard]] std::vector<Turn> turns(int rank, std::int64_t first, std::int64_t last) const override;
    [[nodiscard]] std::vector<Turn> before(const Turn& turn) const override;
    [[nodiscard]] std::vector<Turn> after(const Turn& turn) const override;

  private:
    [[nodiscard]] int group_of(int rank) const;
    [[nodiscard]] std::int64_t length(int cluster) const;
    [[nodiscard]] Turn turn(int cluster, std::int64_t index) const;
    [[nodiscard]] std::pair<int, std::int64_t> find(const Turn& turn) const;

    Clusters clusters_;
    std::uint64_t seed_;
    /// Of each cluster those that have nothing smaller in common, in their order. Not turns: of many ranks
    /// these are many.
    std::vector<std::vector<std::pair<int, int>>> pairs_;
    std::vector<std::int64_t> start_;  ///< of each cluster: the step of its first pair
};

}  // namespace isochrone::mpi::probe
