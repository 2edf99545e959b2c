// SPDX-License-Identifier: BSD-3-Clause
//
// What a benchmark is told to time: work.json in DESIGN.md.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/collective.hpp"
#include "patterns/pattern.hpp"

namespace isochrone::mpi::bench {

/// The main loop of an application: calls of the case's collective, and then as long as it computes.
struct Loop {
    std::string name;  ///< in place of the collective's where times are told
    int iterations = 1;
    int calls = 1;         ///< of each iteration
    double compute_s = 0;  ///< after them
    int root_step = 0;     ///< by which the root moves on with each iteration
};

/// Recipes for a collective, or a pattern of messages, which runs natively alone.
struct Case {
    const core::collectives::Collective* collective = nullptr;
    const core::patterns::Pattern* pattern = nullptr;  ///< in place of a collective; else nullptr
    std::optional<Loop> loop = {};     ///< of a collective: its time is that of the whole loop
    std::int64_t bytes = 0;            ///< that all ranks know alike: 0 where the collective has no data
    int root = 0;                      ///< among the members; 0 where the collective has none
    std::vector<int> members;          ///< ascending ranks that it is for; empty: all
    std::vector<std::string> recipes;  ///< as written
    /// Seconds of a call of some recipes, as far as known before; others' first calls tell, and these also
    /// hold what is set up in them.
    std::map<std::string, double> expected_s = {};
    int window = 1;                ///< of a pattern, see core/patterns/pattern.hpp
    std::int64_t moved_bytes = 0;  ///< what its bandwidth counts in the time that is told

    /// What it is called in a sentence.
    [[nodiscard]] std::string_view words() const {
        return pattern != nullptr ? pattern->words : collective->words;
    }
    [[nodiscard]] bool rooted() const { return pattern != nullptr ? pattern->rooted : collective->rooted; }
    [[nodiscard]] bool has_data() const { return pattern != nullptr || collective->has_data; }
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
