// SPDX-License-Identifier: BSD-3-Clause
//
// Optimisers of a mapping: a table, with a file for each.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include "mapping/graph.hpp"
#include "mapping/objective.hpp"
#include "mapping/places.hpp"
#include "mapping/random.hpp"

namespace isochrone::core::mapping {

/// Tasks, and places for them. All tasks of the graph have size 1.
struct Problem {
    Graph graph;
    Places places;
    std::vector<int> dimensions;  ///< of the grid that the tasks are, row by row; empty where none is known
};

/// How an optimiser is run.
struct Search {
    std::uint64_t seed = 0;
    int threads = 1;
    bool goes_on = false;  ///< until no time is left, and not until it has done its usual
    /// Called by any thread. With none left, an optimiser ends with what it has.
    std::function<double()> left_s = [] { return std::numeric_limits<double>::infinity(); };

    [[nodiscard]] bool is_late() const { return left_s() <= 0; }
};

struct Optimiser {
    std::string_view name;
    std::string_view words;   ///< one line of what it does and is good for
    std::string_view source;  ///< the paper
    /// A mapping that fits into the places, or nothing where the optimiser does not apply.
    Assignment (*function)(const Problem& problem, const Search& search);
};

/// All, the default first.
[[nodiscard]] const std::vector<Optimiser>& optimisers();

[[nodiscard]] Assignment identity(const Problem& problem, const Search& search);
[[nodiscard]] Assignment greedy(const Problem& problem, const Search& search);
[[nodiscard]] Assignment swaps(const Problem& problem, const Search& search);
[[nodiscard]] Assignment multisection(const Problem& problem, const Search& search);
[[nodiscard]] Assignment cartesian(const Problem& problem, const Search& search);
[[nodiscard]] Assignment portfolio(const Problem& problem, const Search& search);

/// Throws std::invalid_argument where the tasks have no room, or fixed ones do not fit.
void check(const Problem& problem);

}  // namespace isochrone::core::mapping
