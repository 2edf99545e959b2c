// SPDX-License-Identifier: BSD-3-Clause
//
// The MPI library's own collectives: its defaults, and every algorithm that it can be told to use while the
// program runs. So all of them can be timed in turn in one run.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/own.hpp"
#include "collectives/collective.hpp"

namespace isochrone::mpi::bench {

/// Open MPI takes the algorithm from control variables of MPI_T when a communicator is made (if it was
/// started with OMPI_MCA_coll_tuned_use_dynamic_rules=1, without which it has no names). These are algorithms
/// of its component `tuned`, some of which send a message in segments. Where Open MPI 5 has ranks on several
/// hosts, its component `han` stands before that: there an info key puts `tuned` first on the communicators
/// of its algorithms, and of its own choice, which is one more name. MPICH takes the algorithm at each call;
/// SimGrid has functions for it. What other libraries can be told is not known here: names() is empty there.
class Library {
  public:
    using Collective = core::collectives::Collective;

    /// Collective over `comm`, which must outlive this, and whose errors must be returned.
    explicit Library(MPI_Comm comm);
    ~Library();
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    /// The algorithms that the library can be told to use for a collective of so many bytes, without its own
    /// choice. Those that can cut such a message into segments come once more for each of some sizes, as
    /// `name@BYTES`. Collective: those that refuse this communicator are left out, and which do shows when
    /// they are run. Throws std::invalid_argument if nothing is known of the collective.
    [[nodiscard]] std::vector<std::string> names(const Collective& collective, std::int64_t size_bytes);

    /// Makes what an algorithm needs; collective. The empty name is the library's own choice.
    /// Throws std::invalid_argument if the library does not know the collective or the name.
    void prepare(const Collective& collective, const std::string& name);

    /// Where the library is told at each call: runs until `untell` are by that algorithm, and tell it nothing
    /// themselves. `name` was prepared.
    void tell(const Collective& collective, const std::string& name);
    void untell(const Collective& collective);

    /// Collective. Runs what was prepared. Throws comm::Error if it fails.
    void run(const Collective& collective, const std::string& name, const Arguments& arguments);

  private:
    struct Algorithm {
        std::string name;
        int value = 0;  // of the variable; of a component's own choice 0
        bool cuts_into_segments = false;
    };
    /// What the library can be told of one collective.
    struct Told {
        std::vector<Algorithm> algorithms;
        int variable = -1;                      // MPI_T index
        int segments = -1;                      // and of the size of segments in bytes
        bool are_tried = false;                 // algorithms that do not work here are gone
        std::map<std::string, MPI_Comm> comms;  // made under a setting, by name
    };
    Told& told(const Collective& collective);
    void find_names(const Own& row, Told& told);
    void apply(const Collective& collective, const std::string& name);
    bool works(const Collective& collective, const std::string& name);
    int call(const Collective& collective, const std::string& name, const Arguments& arguments);

    MPI_Comm comm_;
    std::map<std::string_view, Told> told_;  // by collective
    bool per_communicator_ = false;          // settings count when a communicator is made
    bool is_told_ = false;
    std::optional<bool> is_han_first_;  // before Open MPI's `tuned`; nothing: nobody has asked
};

}  // namespace isochrone::mpi::bench
