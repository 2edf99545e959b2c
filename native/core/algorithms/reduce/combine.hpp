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

/// Exchanges values with another member, or with `sends` false only receives; both end with the same bits,
/// since the lower member's value is the left operand on both.
class Exchange {
  public:
    Exchange(schedule::Builder& builder, const Group& group, Data& data)
        : builder_(builder), group_(group), data_(data) {}
    /// `member` counts from the root.
    void with(int member, bool sends = true);

  private:
    schedule::Builder& builder_;
    const Group& group_;
    Data& data_;
    int temporary_[2] = {-1, -1};
};

}  // namespace isochrone::core::algorithms::reduce
