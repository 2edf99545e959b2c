// SPDX-License-Identifier: BSD-3-Clause
//
// Trials in the calls of one communicator of a program: what core/trial decides, with times that its ranks
// agree on.
//
// The ranks of a communicator make its collectives in one order, so that all count alike, and an agreement, a
// small allreduce on the program's own communicator that begins right after one of its calls, meets on all of
// them. It goes on beside the next calls, and its result is used after so many of them that ranks hardly ever
// wait for it.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "executor/dispatcher.hpp"
#include "select/choose.hpp"
#include "select/search.hpp"
#include "trial/proof.hpp"
#include "trial/trial.hpp"

namespace isochrone::mpi::executor {

class Live {
    /// From rank 0, a core::select::Proposal.
    struct Message {
        core::select::Proposal::What what = core::select::Proposal::What::nothing;
        std::int64_t wait_until = 0;
        double price_s = 0;
        double messages = 1;
        double took = 0;
        bool is_by_messages = false;
        double expected_s = 0;
        std::array<char, 512> recipe{};
    };
    /// What the ranks tell each other beside the calls: their times, or what rank 0 proposes after these.
    struct Talk {
        enum class About : std::uint8_t { times, proposal };
        About about = About::times;
        /// That it goes on beside, as many on all ranks: at first what may be needed, then what was.
        int calls = core::trial::calls_of_an_agreement;
        int calls_left = 0;  ///< until it is used; 0: there is none
        int longest = 0;     ///< in calls, of those since times were told last, on this rank
        double spent_s = 0;  ///< in those, on this rank
        MPI_Request request = MPI_REQUEST_NULL;
        std::vector<double> slowest_s;
        Message proposal;
    };

  public:
    /// Of one kind of calls: a collective, the shape of communicator and root, sizes of one class.
    struct Kind {
        Dispatcher::Question question;  ///< of the first such call
        std::int64_t bytes = 0;         ///< of that
        /// The least and the largest of all calls so far, as all ranks know them.
        core::select::SizeClass seen{std::numeric_limits<std::int64_t>::max(), 0};
        std::string shape;
        core::select::SizeClass sizes;
        core::trial::Trial trial = core::trial::Trial::seeking();
        const Dispatcher::Decision* planned = nullptr;  ///< the dispatcher's, of the first such call
        const Dispatcher::Decision* incumbent = nullptr;
        const Dispatcher::Decision* challenger = nullptr;  ///< nullptr: none is known yet
        const Dispatcher::Decision* nearest = nullptr;     ///< of recipes that lost, the fastest
        double nearest_ratio = 0;                          ///< its time over the incumbent's
        core::trial::Proof proof;                          ///< of the incumbent
        std::optional<core::select::Search> search;        ///< where nothing is planned
        Talk talk;
        std::deque<Dispatcher::Decision> made;

        /// One is on trial, or the next is looked for.
        [[nodiscard]] bool is_seeking() const { return search && !search->is_over(); }
    };

    enum class Event : std::uint8_t {
        begun,            ///< a recipe was predicted, and is tried
        recipe_is_kept,   ///< after a round: it was faster, or was there and the library's own was not
        native_is_kept,   ///< the other way round
        nothing_is_left,  ///< to be tried after that, or at all: what runs stays
    };
    using Tell = std::function<void(const Kind&, Event)>;

    /// `dispatcher` must outlive this. `tell` is called on all ranks of the communicator alike.
    Live(Dispatcher& dispatcher, Tell tell);
    ~Live();
    Live(const Live&) = delete;
    Live& operator=(const Live&) = delete;

    /// Before the communicator is gone. Waits for other ranks where a talk is under way.
    void end_talks() noexcept;

    /// What a call is to run, and which kind of calls it is; nullptr: nothing is to be found out.
    struct Turn {
        const Dispatcher::Decision* decision = nullptr;
        Kind* kind = nullptr;
    };
    /// `decision`: the dispatcher's. Local.
    Turn next(const Dispatcher::Question& question, std::int64_t bytes, const Dispatcher::Decision& decision);

    /// After such a call: how long it took on this rank, which is number `rank` of `comm`. Collective, as the
    /// number of calls has it. Throws comm::Error.
    void ended(Kind& kind, double seconds, MPI_Comm comm, int rank);

  private:
    Kind* kind_of(const Dispatcher::Question& question, std::int64_t bytes,
                  const Dispatcher::Decision& decision);
    void tell_times(Kind& kind, MPI_Comm comm);
    static void tell_proposal(Kind& kind, MPI_Comm comm);
    void go_on(Kind& kind, MPI_Comm comm, int rank);
    void hear_times(Kind& kind, MPI_Comm comm, int rank);
    void hear_proposal(Kind& kind);
    [[nodiscard]] Message propose(Kind& kind);
    static void compare(Kind& kind);
    void decided(Kind& kind, bool is_lost);
    void end_seeking(Kind& kind);
    void turn_over(Kind& kind);

    Dispatcher& dispatcher_;
    Tell tell_;
    bool is_over_ = false;  ///< a recipe has failed on a rank, and all ranks have heard of it
    Dispatcher::Decision native_;
    using Key = std::tuple<const core::collectives::Collective*, bool, std::string, std::int64_t>;
    std::map<Key, Kind> kinds_;
    std::map<std::pair<const Dispatcher::Decision*, std::int64_t>, Kind*> known_;
};

}  // namespace isochrone::mpi::executor
