// SPDX-License-Identifier: BSD-3-Clause
//
// All state of the preloaded library while MPI runs.
//
// All messages of recipes go over one private communicator, split from the world at the start, and library
// collectives over groups that are made then too. None is made later: making one inside a collective of the
// program's races with communicators that the program has under way (MPI_Comm_idup), and libraries have few.
// What is kept for a communicator hangs on an attribute of it, and is freed with it. What trials have under
// way on it is waited for before.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "executor/dispatcher.hpp"
#include "executor/groups.hpp"
#include "executor/live.hpp"
#include "interpose/account.hpp"
#include "interpose/call.hpp"
#include "interpose/environment.hpp"
#include "interpose/lanes.hpp"
#include "interpose/request.hpp"
#include "interpose/tally.hpp"
#include "place/layout.hpp"
#include "preload/roll_call.hpp"
#include "select/plan.hpp"

namespace isochrone::mpi::interpose {

class Session {
  public:
    /// Collective over MPI_COMM_WORLD, except that ranks without this library are noticed. Returns nullptr,
    /// on all ranks, if there is nothing to do: no plan is given, the plan or its topology is damaged or made
    /// for something else, or a rank is not able (`is_able`). Rank 0 then says so in one line. Throws
    /// comm::Error.
    static std::unique_ptr<Session> open(preload::Occasion occasion, bool is_able);
    /// Ends what trials have under way, and calls nothing else of MPI, which is ending.
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Whether a call has been dealt with, and what the program gets then.
    struct Done {
        bool done = false;
        int code = MPI_SUCCESS;
    };

    /// Does what is asked, if the plan has a recipe for it. Not done: the caller is to call the library's
    /// own. Throws comm::Error.
    Done run(const Call& call, Unfinished& unfinished);
    /// After the library's own. Throws comm::Error.
    void finish(const Call& call, const Unfinished& unfinished);
    /// Before a communicator is freed. Collective over those that trials have under way on it.
    void end_talks(MPI_Comm comm) const noexcept;

    [[nodiscard]] const core::select::Plan& plan() const { return plan_; }
    [[nodiscard]] const core::place::Layout& world() const { return world_; }
    [[nodiscard]] const Tallies& tallies() const { return tallies_; }
    /// Where the ranks of a communicator are; nothing if it has others than the world's, or is between two
    /// groups. Local. Throws comm::Error.
    [[nodiscard]] std::optional<core::place::Layout> layout_of(MPI_Comm comm) const;

  private:
    /// What is kept for a communicator.
    struct Handle {
        std::unique_ptr<executor::Dispatcher> dispatcher;  ///< nullptr: not a communicator that is improved
        std::unique_ptr<executor::Live> live;              ///< nullptr: nothing is tried
        int rank = 0;
        int size = 1;
        int lane = Lanes::none;
        std::string why_not;          ///< it is not improved; empty for one rank, where nothing is to be done
        bool has_said_order = false;  ///< that reductions are not in one order
        std::set<const executor::Dispatcher::Decision*> explained;  ///< decisions that have been said
        std::map<const executor::Dispatcher::Decision*, Tally*> tallies;
    };

    Session() = default;
    void make_communicators();
    [[nodiscard]] Tally& tally_of(Handle& handle, const executor::Dispatcher::Decision& decision);
    void say_that_order_may_differ(Handle& handle, const Call& call, const std::string& why) const;
    void say_what_ran() const;
    static int forget(MPI_Comm comm, int key, void* handle, void* session);
    Handle& handle_of(MPI_Comm comm);
    [[nodiscard]] std::optional<std::vector<int>> in_world(MPI_Comm comm) const;
    [[nodiscard]] std::unique_ptr<Handle> make_handle(MPI_Comm comm);
    executor::Dispatcher::Opened open_lane(MPI_Comm comm, Handle& handle, std::vector<int> in_world);

    core::select::Plan plan_;
    std::optional<core::select::Plan> surveyed_;  // where something was found live: without that
    core::place::Layout world_;
    bool explain_ = false;
    bool check_ = false;
    bool summary_ = false;
    bool threads_ = false;
    Trials trials_ = Trials::off;
    std::string learn_;  // on rank 0: the folder for what is found live; empty: it is not kept
    int rank_ = 0;
    MPI_Comm comm_ = MPI_COMM_NULL;  // for all messages
    MPI_Group world_group_ = MPI_GROUP_NULL;
    std::unique_ptr<executor::Groups> groups_;
    std::unique_ptr<Requests> requests_;
    std::unique_ptr<Lanes> lanes_;
    Tallies tallies_;
    Account account_;
    int key_ = MPI_KEYVAL_INVALID;
    std::mutex mutex_;  // guards the handles: collectives may run at once on different communicators
    std::unordered_set<Handle*> handles_;
};

}  // namespace isochrone::mpi::interpose
