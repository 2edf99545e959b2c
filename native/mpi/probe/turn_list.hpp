// SPDX-License-Identifier: BSD-3-Clause
//
// An order of some pairs of ranks, where those that are wanted are few: each as early as both of its hosts
// are free, in random order. For all pairs see rounds.hpp, which stores nothing for each.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "probe/order.hpp"

namespace isochrone::mpi::probe {

class TurnList : public Order {
  public:
    /// `host_of_rank` holds for each rank any number from 0 on that names its host; `pairs` each pair once.
    TurnList(std::vector<int> host_of_rank, std::vector<std::pair<int, int>> pairs, std::uint64_t seed);

    [[nodiscard]] std::int64_t steps() const override { return steps_; }
    [[nodiscard]] std::vector<Turn> turns(int rank, std::int64_t first, std::int64_t last) const override;
    [[nodiscard]] std::vector<Turn> before(const Turn& turn) const override;
    [[nodiscard]] std::vector<Turn> after(const Turn& turn) const override;

  private:
    [[nodiscard]] const std::vector<Turn>& of_host_of(int rank) const;

    std::vector<int> host_;                   ///< of each rank
    std::vector<std::vector<Turn>> of_host_;  ///< in their order
    std::int64_t steps_ = 0;
};

}  // namespace isochrone::mpi::probe
