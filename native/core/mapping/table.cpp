// SPDX-License-Identifier: BSD-3-Clause
#include <stdexcept>
#include <string>

#include "mapping/optimiser.hpp"

namespace isochrone::core::mapping {

const std::vector<Optimiser>& optimisers() {
    static const std::vector<Optimiser> table = {
        {"portfolio", "all of these, crossed and refined; never worse than identity",
         "Sanders and Schulz, Distributed Evolutionary Graph Partitioning, 2012", portfolio},
        {"multisection", "parts tasks among the outermost groups, then within each; for any graph",
         "Schulz and Woydt, Shared-Memory Hierarchical Process Mapping, 2025", multisection},
        {"cartesian", "boxes of a grid of tasks on groups of equal size; for stencils",
         "Gropp, Using Node and Socket Information to Implement MPI Cartesian Topologies, 2019", cartesian},
        {"greedy", "fills place after place with the task that is tied most to those already there",
         "Getmanskiy et al., Optimizing rank-to-node mapping for MPI programs on large clusters", greedy},
        {"swaps", "swaps two tasks of the identity while that is for the better",
         "Brandfass, Alrutz and Gerhold, Rank Reordering for MPI Communication Optimization, 2013", swaps},
        {"identity", "tasks in their order on places in theirs", "", identity},
    };
    return table;
}

void check(const Problem& problem) {
    std::vector<std::int64_t> room = problem.places.capacities();
    std::int64_t all = 0;
    for (const std::int64_t capacity : room) all += capacity;
    if (problem.graph.vertices() > all) {
        throw std::invalid_argument(std::to_string(problem.graph.vertices()) +
                                    " ranks have room at places for " + std::to_string(all) + " only");
    }
    for (const int place : problem.graph.fixed) {
        if (place >= problem.places.count()) {
            throw std::invalid_argument("a rank is fixed at place " + std::to_string(place) + " of " +
                                        std::to_string(problem.places.count()));
        }
        if (place >= 0 && --room[static_cast<std::size_t>(place)] < 0) {
            throw std::invalid_argument("place " + std::to_string(place) +
                                        " has no room for all ranks that are fixed there");
        }
    }
}

}  // namespace isochrone::core::mapping
