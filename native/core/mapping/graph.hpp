// SPDX-License-Identifier: BSD-3-Clause
//
// The task graph as optimisers see it: undirected, in compressed rows, with as many weights at an edge as the
// objective has terms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace isochrone::core::mapping {

/// The place of each vertex.
using Assignment = std::vector<int>;

struct Graph {
    int terms = 1;
    std::vector<std::size_t> first{0};  ///< [vertex + 1], its edges' ends begin here
    std::vector<int> neighbours;        ///< [end]; each edge is at both of its vertices
    std::vector<double> weights;        ///< [end][term]
    std::vector<std::int64_t> sizes;    ///< [vertex], of how many tasks it is
    std::vector<int> fixed;             ///< [vertex], the place that it has to have; -1 for any

    [[nodiscard]] int vertices() const { return static_cast<int>(first.size()) - 1; }
    [[nodiscard]] const double* weight(std::size_t end) const {
        return weights.data() + end * static_cast<std::size_t>(terms);
    }
    [[nodiscard]] std::int64_t total_size() const;
};

/// The graph in which all vertices of one cluster are one. `cluster` numbers them from 0 without gaps.
[[nodiscard]] Graph contracted(const Graph& graph, const std::vector<int>& cluster, int clusters);

/// The graph of some vertices, in their order, and of the edges between them, with one weight an edge: the
/// sum of its terms' weights times `prices`.
[[nodiscard]] Graph induced(const Graph& graph, const std::vector<int>& vertices,
                            const std::vector<double>& prices);

}  // namespace isochrone::core::mapping
