// SPDX-License-Identifier: BSD-3-Clause
//
// The first calls of a case, which are not timed: what they leave is checked, and what they take is learned.
#pragma once

#include <vector>

#include "bench/aligned.hpp"
#include "bench/candidate.hpp"

namespace isochrone::mpi::bench {

/// What the first call of each candidate showed, equal on all ranks.
struct FirstCalls {
    std::vector<bool> wrong;      ///< it left other bytes on some rank than the library's own would
    std::vector<double> taken_s;  ///< more or less
};

/// Collective over all ranks of the timer, of which those without memory (nullptr) take no part. Runs each
/// candidate once on the same memory, of one call. Where it is known what one of the library's own takes
/// (`own_is_known`), the call that shows what is right is the only one of it, and sets things up. `check`
/// tells this check from others, alike on all ranks.
[[nodiscard]] FirstCalls first_calls(const AlignedTimer& timer, const std::vector<Candidate>& candidates,
                                     const Memory* memory, unsigned check, bool own_is_known);

/// Collective like it. Gives a candidate of a pattern so many rounds that what clocks differ by is little of
/// a call; over slow links one is enough. Returns what a call takes then, in seconds, more or less.
double choose_rounds(const AlignedTimer& timer, Candidate& candidate, const Memory* memory);

}  // namespace isochrone::mpi::bench
