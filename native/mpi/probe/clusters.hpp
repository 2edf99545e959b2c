// SPDX-License-Identifier: BSD-3-Clause
//
// Clusters within clusters of ranks, whose pairs may be measured at once: the topology file of LGate
// (Reinfjell 2023, section 3.1.1), as an expression that any launcher passes on unchanged:
//
//   cluster   = "(" ( group | cluster { cluster } ) ")"
//   group     = ranks { "," ranks }
//   ranks     = rank [ "-" rank ]                              ((0-7)(8-15))((16-23)(24,26,28,30))
//
// Several clusters in a row are those within the outermost one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace isochrone::mpi::probe {

class Clusters {
  public:
    /// Throws std::invalid_argument for a text that is no such expression, with one line that says why.
    explicit Clusters(std::string_view expression);

    /// What is wrong with the clusters for that many ranks, which must be in one group each; or nothing.
    [[nodiscard]] std::string complaint(int ranks) const;

    /// Makes one group of every cluster at which ranks of one machine meet: their pairs cannot run at once.
    /// `machine_of_rank` holds for each rank any number from 0 on that names its machine.
    void keep_together(const std::vector<int>& machine_of_rank);

    /// Clusters have numbers from 0 on, the outermost first, each before those within it.
    [[nodiscard]] int count() const { return static_cast<int>(around_.size()); }

    /// The cluster that one is directly within; -1 for the outermost.
    [[nodiscard]] int around(int cluster) const { return around_[static_cast<std::size_t>(cluster)]; }

    /// The clusters directly within one; none of one that is a group.
    [[nodiscard]] const std::vector<int>& parts(int cluster) const {
        return parts_[static_cast<std::size_t>(cluster)];
    }

    /// For each rank the cluster that is its group.
    [[nodiscard]] const std::vector<int>& groups() const { return group_; }

    /// The innermost cluster that both are within.
    [[nodiscard]] int common(int cluster, int other) const;

  private:
    int open(int around);
    void add(int rank, int cluster);

    std::vector<int> around_;
    std::vector<std::vector<int>> parts_;
    std::vector<int> group_;  ///< of each rank; -1 for one that has none
};

}  // namespace isochrone::mpi::probe
