// SPDX-License-Identifier: BSD-3-Clause
//
// Groups that are no power of two, for algorithms that need one: before these, the second of each of as many
// pairs as there are members too many gives its value to the first, and gets the result from it in the end.
// The root is a first, so it goes on always.
#pragma once

#include "algorithms/algorithm.hpp"

namespace isochrone::core::algorithms::reduce {

class Fold {
  public:
    /// With a radix beyond 2 as many go on as a digit times a power of the radix says: always more than half.
    explicit Fold(const Group& group, int radix = 2);

    /// Number of those that go on: for radix 2 a power of two.
    [[nodiscard]] int size() const { return size_; }
    /// This member's number among them, or -1: it waits for the result.
    [[nodiscard]] int me() const;
    /// The member, counted from the root, with such a number.
    [[nodiscard]] int member(int number) const;
    /// The members, counted from the root, for which those with so many numbers from the first on stand.
    [[nodiscard]] std::vector<int> stood_for(int first, int numbers) const;
    /// Whether this member is one of a pair.
    [[nodiscard]] bool is_paired() const { return relative_ < 2 * pairs_; }

    /// Appends the exchange before and the one after.
    void in(schedule::Builder& builder, const Group& group, Data& data) const;
    void out(schedule::Builder& builder, const Group& group, Data& data) const;

  private:
    int relative_;
    int size_ = 1;
    int pairs_ = 0;
};

}  // namespace isochrone::core::algorithms::reduce
