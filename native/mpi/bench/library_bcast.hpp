// SPDX-License-Identifier: BSD-3-Clause
//
// The MPI library's own broadcast: its default, and every algorithm that it can be told to use while the
// program runs. So all of them can be timed in turn in one run.
#pragma once

#include <mpi.h>

#include <map>
#include <string>
#include <vector>

namespace isochrone::mpi::bench {

/// Open MPI takes the algorithm from a control variable of MPI_T when a communicator is made (if it was
/// started with OMPI_MCA_coll_tuned_use_dynamic_rules=1, without which it has no names), MPICH at each call;
/// SimGrid has a function for it. What other libraries can be told is not known here: names() is empty there.
class LibraryBcast {
  public:
    /// Collective over `comm`, which must outlive this.
    explicit LibraryBcast(MPI_Comm comm);
    ~LibraryBcast();
    LibraryBcast(const LibraryBcast&) = delete;
    LibraryBcast& operator=(const LibraryBcast&) = delete;

    /// The algorithms that the library can be told to use, without its own choice.
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

    /// Makes what an algorithm needs; collective. The empty name is the library's own choice.
    /// Throws std::invalid_argument if the library does not know the name.
    void prepare(const std::string& name);

    void bcast(const std::string& name, void* data, int count, int root);

  private:
    void apply(const std::string& name);

    MPI_Comm comm_;
    std::vector<std::string> names_;
    std::vector<int> values_;               // beside names_
    int variable_ = -1;                     // MPI_T index
    bool per_communicator_ = false;         // the setting counts when a communicator is made
    std::map<std::string, MPI_Comm> told_;  // communicators made under a setting
};

}  // namespace isochrone::mpi::bench
