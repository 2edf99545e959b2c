// SPDX-License-Identifier: BSD-3-Clause
//
// How one member combines what it has with what others send it.
#pragma once

#include <vector>

#include "algorithms/algorithm.hpp"

namespace isochrone::core::algorithms::reduce {

/// Receives from members, numbered from the root, and combines: this member's own value first, theirs in
/// ascending order after it. Several messages are under way while one is combined.
void combine(schedule::Builder& builder, const Group& group, Data& data, std::vector<int> members);

/// Exchanges values among a few members. All end with the same bits, since all combine from the lowest
/// member's value to the highest's.
class Exchange {
  public:
    Exchange(schedule::Builder& builder, const Group& group, Data& data)
        : builder_(builder), group_(group), data_(data) {}
    /// The other members count from the root, and ascend.
    void with(const std::vector<int>& others);

  private:
    schedule::Builder& builder_;
    const Group& group_;
    Data& data_;
    std::vector<int> temporaries_;
};

}  // namespace isochrone::core::algorithms::reduce
