// SPDX-License-Identifier: BSD-3-Clause
//
// What a benchmark is told to time: work.json in DESIGN.md.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/collective.hpp"

namespace isochrone::mpi::bench {

struct Case {
    const core::collectives::Collective* collective = nullptr;
    std::int64_t bytes = 0;            ///< that all ranks know alike: 0 where the collective has no data
    int root = 0;                      ///< among the members; 0 where the collective has none
    std::vector<int> members;          ///< ascending ranks that it is for; empty: all
    std::vector<std::string> recipes;  ///< as written
};

struct Work {
    int ranks = 0;  ///< that it is for; 0: any
    int repetitions = 10;
    /// Seconds that the calls of one case may take, more or less: then it has no more repetitions, but at
    /// least `least_repetitions`.
    double patience_s = std::numeric_limits<double>::infinity();
    double budget_s = std::numeric_limits<double>::infinity();  ///< ... and all cases together
    int least_repetitions = 1;
    /// A recipe other than native whose first call takes so many times as long as the fastest one's of its
    /// case, and longer than its share of the patience, is timed no further.
    double drop = std::numeric_limits<double>::infinity();
    int rival_repetitions = 10;  ///< of what the library is told to use ("native:NAME")
    std::string fabric;  ///< whose server tells how far hosts are apart, see core/place/fabric_server.hpp;
                         ///< empty: none
    std::uint64_t seed = 1;
    std::vector<Case> cases;
};

/// Throws std::invalid_argument, in one line, if the text is not a work file for collectives among `ranks`
/// ranks, or if it is for another number of them.
[[nodiscard]] Work parse_work(std::string_view text, int ranks);

}  // namespace isochrone::mpi::bench
