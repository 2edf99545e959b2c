// SPDX-License-Identifier: BSD-3-Clause
//
// Proves that the schedules of all ranks together do what the collective promises, on symbolic buffers: each
// unit of each buffer holds what it was made from. Every send is taken as synchronous (it ends only when the
// receive does), library collectives hold all their ranks until the last has come, and things happen in an
// order that a seed chooses. Found are: a unit with the wrong contents, contributions combined twice, never,
// or in a forbidden order; results that ranks should have alike, but that are combined in different ways, so
// that floating-point numbers would differ in their last bits; messages whose lengths differ at the two ends;
// slices used while a message or an operation writes them; counts used before they are known; and deadlock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedule/extents.hpp"
#include "schedule/schedule.hpp"

namespace isochrone::core::prove {

/// A contribution: unit `index` of rank `rank`'s input.
struct Atom {
    int rank = 0;
    std::int64_t index = 0;
    friend bool operator==(const Atom&, const Atom&) = default;
    friend auto operator<=>(const Atom&, const Atom&) = default;
};

/// What a unit holds: nothing known (empty), a copy of one contribution, or a combination in this order.
/// Claims say nothing of which operands are combined first.
using Contents = std::vector<Atom>;
using Memory = std::vector<Contents>;

/// One rank's side of the claim.
struct Claim {
    schedule::Extents extents;
    Memory input;     ///< before
    Memory output;    ///< before
    Memory expected;  ///< the output afterwards; an empty Contents may hold anything
};

struct Options {
    int window = 4;
    std::uint64_t seed = 1;
    bool commutative = true;  ///< combinations are compared as multisets
    bool idempotent = false;  ///< ... as sets: it is all one how often an operand is combined
    /// For library collectives: groups[level][rank].
    std::vector<std::vector<int>> groups;
};

/// Nothing if the claim holds, else one line that says where it fails.
[[nodiscard]] std::optional<std::string> prove(const std::vector<schedule::Schedule>& schedules,
                                               const std::vector<Claim>& claims, const Options& options);

}  // namespace isochrone::core::prove
