// SPDX-License-Identifier: BSD-3-Clause
//
// All state of the preloaded library while MPI runs.
//
// All messages go over one private communicator, split from the world at the start, and library collectives
// over groups that are made then too. None is made later: making one inside a collective of the program's
// races with communicators that the program has under way (MPI_Comm_idup), and libraries have few. What is
// kept for a communicator hangs on an attribute of it, and is freed with it without a call to MPI.
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
#include "interpose/agreement.hpp"
#include "interpose/blocks.hpp"
#include "interpose/call.hpp"
#include "interpose/datatype.hpp"
#include "interpose/lanes.hpp"
#include "interpose/learned.hpp"
#include "interpose/operation.hpp"
#include "interpose/tally.hpp"
#include "place/layout.hpp"
#include "select/plan.hpp"

namespace isochrone::mpi::interpose {

class Session {
  public:
    /// Collective over MPI_COMM_WORLD, except that ranks without this library are noticed. Returns nullptr,
    /// on all ranks, if there is nothing to do: no plan is given, or the plan or its topology is damaged or
    /// made for something else. Rank 0 then says so in one line. Throws comm::Error.
    static std::unique_ptr<Session> open();
    /// Calls nothing of MPI, which is ending.
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

    /// What a call asks for, as far as all ranks know it alike, and where its data are on this one.
    struct Request {
        executor::Dispatcher::Question question;
        bool is_valid = false;     ///< the library would not refuse it
        bool is_possible = false;  ///< ... and it is one that recipes can do
        std::int64_t bytes = 0;
        const Type* type = nullptr;
        bool in_place = false;
        bool is_exact = true;                   ///< what runs makes no difference to the last bit
        std::optional<BlocksCall> blocks = {};  ///< of collectives of blocks
    };

    /// How many calls of one collective ran how.
    struct Counts {
        std::uint64_t recipes = 0;
        std::uint64_t planned_native = 0;
        std::uint64_t left_out = 0;  ///< of the plan's, by the user
        std::uint64_t not_measured = 0;
        std::uint64_t refused = 0;  ///< the plan has a recipe that cannot run here
        std::uint64_t tried = 0;    ///< recipes that no plan has, on trial or found live
        std::uint64_t checked = 0;  ///< the library's own, in place of a recipe, on trial or found live
    };

    /// How many kinds of calls were tried on communicators that this rank is in.
    struct Trying {
        std::uint64_t begun = 0;
        std::uint64_t recipes = 0;  ///< found faster
        std::uint64_t natives = 0;  ///< ... the library's own
    };

    Session() = default;
    std::string take_plan(const Agreement& agreement);
    [[nodiscard]] std::string ask_for_delays(const Agreement& agreement) const;
    void take_delays(const Agreement& agreement);
    void make_communicators();
    void measure_links();
    [[nodiscard]] Request examine(const Call& call, const Handle& handle);
    void examine_blocks(const Call& call, const Handle& handle, Request& request);
    void run_on(Handle& handle, const executor::Dispatcher::Decision& decision, const Call& call,
                const Request& request);
    [[nodiscard]] Tally& tally_of(Handle& handle, const executor::Dispatcher::Decision& decision);
    void say_that_order_may_differ(Handle& handle, const Call& call, const std::string& why) const;
    void say_what_ran();
    static std::string in_words(const core::collectives::Collective& collective, const Counts& counts);
    static int forget(MPI_Comm comm, int key, void* handle, void* session);
    Handle& handle_of(MPI_Comm comm);
    [[nodiscard]] std::optional<std::vector<int>> in_world(MPI_Comm comm) const;
    [[nodiscard]] std::unique_ptr<Handle> make_handle(MPI_Comm comm);
    executor::Dispatcher::Opened open_lane(MPI_Comm comm, Handle& handle, std::vector<int> in_world);
    void tell(const executor::Live::Kind& kind, executor::Live::Event event, const std::string& order);
    void count(Handle& handle, const executor::Dispatcher::Decision& decision, const Request& request);

    core::select::Plan plan_;
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
    std::unique_ptr<Self> self_;
    std::unique_ptr<Types> types_;
    Operations operations_;
    std::unique_ptr<Lanes> lanes_;
    Tallies tallies_;
    int key_ = MPI_KEYVAL_INVALID;
    std::mutex mutex_;  // guards what follows: collectives may run at once on different communicators
    std::unordered_set<Handle*> handles_;
    std::map<const core::collectives::Collective*, Counts> counts_;
    Trying trying_;
    Learned learned_;
    bool has_said_that_machine_differs_ = false;
};

}  // namespace isochrone::mpi::interpose
