// SPDX-License-Identifier: BSD-3-Clause
//
// All state of the preloaded library, from MPI_Init to MPI_Finalize.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "executor/dispatcher.hpp"
#include "place/layout.hpp"
#include "select/plan.hpp"

namespace isochrone::mpi::interpose {

class Session {
  public:
    /// Collective over MPI_COMM_WORLD; returns nullptr, on all ranks, if there is nothing to do: no plan is
    /// given, or the plan or its topology is damaged or made for something else. Rank 0 then says so in one
    /// line.
    static std::unique_ptr<Session> open();
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Broadcasts if the plan has a recipe for it. False: the caller is to call the library's own. Throws
    /// comm::Error.
    bool bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);

    /// Collective over `comm`, which is about to be freed.
    void forget(MPI_Comm comm);

  private:
    /// What is kept for a communicator.
    struct Handle {
        std::unique_ptr<executor::Dispatcher> dispatcher;  ///< nullptr: not a communicator that is improved
        int rank = 0;
        int size = 1;
        std::set<const executor::Dispatcher::Decision*> explained;  ///< decisions that have been said
    };

    /// How many broadcasts ran how.
    struct Counts {
        std::uint64_t recipes = 0;
        std::uint64_t planned_native = 0;
        std::uint64_t not_measured = 0;
        std::uint64_t refused = 0;  ///< the plan has a recipe that cannot run here
    };

    Session() = default;
    static std::string in_words(const Counts& counts);
    Handle& handle_of(MPI_Comm comm);
    [[nodiscard]] std::unique_ptr<Handle> make_handle(MPI_Comm comm) const;
    void count(Handle& handle, const executor::Dispatcher::Decision& decision, std::int64_t bytes, int root);

    core::select::Plan plan_;
    core::place::Layout world_;
    bool explain_ = false;
    int key_ = MPI_KEYVAL_INVALID;
    std::mutex mutex_;  // guards what follows: collectives may run at once on different communicators
    std::vector<std::unique_ptr<Handle>> handles_;
    Counts counts_;
};

}  // namespace isochrone::mpi::interpose
