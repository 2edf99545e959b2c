// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/optimiser.hpp"
#include "mapping/refine.hpp"

namespace isochrone::core::mapping {

Assignment swaps(const Problem& problem, const Search& search) {
    Assignment at = identity(problem, search);
    Random random(search.seed);
    State state(problem.graph, problem.places, at);
    search_swaps(state, random, [&search] { return search.is_late(); });
    return at;
}

}  // namespace isochrone::core::mapping
