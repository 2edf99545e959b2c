// SPDX-License-Identifier: BSD-3-Clause
//
// Communicators for the library's own collectives inside the groups of a layout.
#pragma once

#include <mpi.h>

#include <map>
#include <vector>

#include "place/layout.hpp"

namespace isochrone::mpi::executor {

class Groups {
  public:
    /// `layout` is of the ranks of `comm`; both must outlive this. Makes nothing yet.
    Groups(MPI_Comm comm, const core::place::Layout& layout);
    /// Leaves the communicators to MPI_Finalize: freeing them is collective.
    ~Groups() = default;
    Groups(const Groups&) = delete;
    Groups& operator=(const Groups&) = delete;

    /// Collective over `comm`: makes the groups of a level, if they are not there.
    void make(int level);
    /// Collective over each group.
    void free();

    /// Whether the groups of a level are there and those of `layout`, another one of some of the ranks, are
    /// the same, whole.
    [[nodiscard]] bool hold(int level, const core::place::Layout& layout,
                            const std::vector<int>& ranks) const;

    /// This rank's group at a level that was made.
    [[nodiscard]] MPI_Comm comm(int level) const { return groups_.at(level).comm; }
    /// The number in it of a rank of `comm`.
    [[nodiscard]] int number(int level, int rank) const;

  private:
    struct Group {
        MPI_Comm comm = MPI_COMM_NULL;
        std::vector<int> members;  // ascending
    };
    MPI_Comm comm_;
    const core::place::Layout& layout_;
    std::map<int, Group> groups_;  // by level
};

}  // namespace isochrone::mpi::executor
