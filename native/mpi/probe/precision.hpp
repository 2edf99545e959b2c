// SPDX-License-Identifier: BSD-3-Clause
//
// When a median is known well enough. The k-th smallest and the k-th largest of n values enclose the median
// with probability 1 - 2 P(Bin(n, 1/2) < k), whatever the distribution (Conover, "Practical Nonparametric
// Statistics", section 3.2). statistics.py has the same for Python.
#pragma once

#include <cstddef>
#include <vector>

namespace isochrone::mpi::probe {

/// The fewest values for which neither the least nor the greatest is an end of the interval: one value that
/// is far off does not widen it.
inline constexpr std::size_t least_values = 9;

/// The greatest k whose interval holds the median in 95 % of all cases; 0 where no k does (fewer than six).
[[nodiscard]] std::size_t interval_rank(std::size_t count);

/// Width of that interval as a share of the median; infinite with too few values.
[[nodiscard]] double interval_width(std::vector<double> values);

/// Whether no more values are needed: the interval is no wider than this share of the median, which
/// least_values are needed for at least.
[[nodiscard]] bool known_to(double share, const std::vector<double>& values);

/// How many values there should be the next time someone asks, after so many and of at most so many: few
/// more than before, that none are taken in vain, but a share of them, that many are not sorted often.
[[nodiscard]] std::size_t next_look(std::size_t count, std::size_t most);

}  // namespace isochrone::mpi::probe
