// SPDX-License-Identifier: BSD-3-Clause
//
// What the rounds of trials in one kind of calls have shown of the way that runs, beside the library's own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trial/trial.hpp"

namespace isochrone::core::trial {

/// Of the incumbent. `least` and `largest` hold the speedup over the library's own between them, as the least
/// and the largest ratio of a round hold its median. Where a recipe was held against another recipe, they are
/// the products of both rounds' bounds, which is wider than it need be.
struct Proof {
    double native_s = 0;
    double own_s = 0;  ///< of the incumbent; where that is the library's own, the same
    double speedup = 1;
    double least = 1;
    double largest = 1;
    std::size_t blocks = 0;  ///< of the last round that told something; 0: nothing is known

    /// Whether the incumbent, a recipe, is proven faster than the library's own. It stays too where the
    /// library's own is not proven faster, and that alone proves nothing.
    [[nodiscard]] bool shows_gain() const { return least > 1; }

    /// After a round that was decided.
    void add(const Trial::Round& round, bool incumbent_is_native, bool challenger_is_native, bool is_lost);
};

}  // namespace isochrone::core::trial
