// SPDX-License-Identifier: BSD-3-Clause
//
// Who measures with whom, and when: what a rank has to know of an order of pairs.
#pragma once

#include <cstdint>
#include <vector>

namespace isochrone::mpi::probe {

/// A pair of ranks in its turn. A coin decides which one does the timing, so that no rank's clock and
/// processor are behind a whole row of the matrix.
struct Turn {
    std::int64_t step = 0;  ///< pairs that cannot run at once have different ones and run in their order
    int initiator = 0;
    int responder = 0;

    bool operator==(const Turn&) const = default;
};

class Order {
  public:
    Order() = default;
    Order(const Order&) = default;
    Order& operator=(const Order&) = default;
    virtual ~Order() = default;

    /// How many steps there are.
    [[nodiscard]] virtual std::int64_t steps() const = 0;

    /// The turns of a rank in steps [first, last), in their order.
    [[nodiscard]] virtual std::vector<Turn> turns(int rank, std::int64_t first, std::int64_t last) const = 0;

    /// The last turns on its hosts, or in its clusters, before this one: none, one, or one for each.
    [[nodiscard]] virtual std::vector<Turn> before(const Turn& turn) const = 0;

    /// The first turns there after this one; before() of each of them holds this one.
    [[nodiscard]] virtual std::vector<Turn> after(const Turn& turn) const = 0;
};

}  // namespace isochrone::mpi::probe
