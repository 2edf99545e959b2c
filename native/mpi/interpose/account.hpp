// SPDX-License-Identifier: BSD-3-Clause
//
// What ran in the calls of this rank and what was tried there, in words for people and rules for the next
// run.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "executor/dispatcher.hpp"
#include "executor/live.hpp"
#include "interpose/learned.hpp"
#include "interpose/request.hpp"

namespace isochrone::mpi::interpose {

/// Any thread may add.
class Account {
  public:
    /// A call ran by a decision.
    void count(const executor::Dispatcher::Decision& decision, const Request& request);

    /// Something came of a trial. `order`: of the ranks, see executor::Dispatcher::order. `learns`: it is
    /// kept for `write_learned`. `speaks`: a machine that differs from its survey is said on stderr, once.
    void note(const executor::Live::Kind& kind, executor::Live::Event event, const std::string& order,
              bool learns, bool speaks);

    /// How many calls ran how, on stderr.
    void say_counts() const;
    /// How many trials there were, on stderr; nothing where there were none.
    void say_trials() const;
    /// See Learned::write.
    void write_learned(const std::string& folder, const core::select::Plan& plan) const {
        learned_.write(folder, plan);
    }

  private:
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

    static std::string in_words(const core::collectives::Collective& collective, const Counts& counts);

    std::mutex mutex_;  // collectives may run at once on different communicators
    std::map<const core::collectives::Collective*, Counts> counts_;
    Trying trying_;
    Learned learned_;
    bool has_said_that_machine_differs_ = false;
};

/// What a decision is about and why it was taken, on stderr.
void say_decision(const executor::Dispatcher::Decision& decision, const Request& request);
/// That trials have ended before they began.
void say_that_none_is_tried(const executor::Live::Kind& kind);

}  // namespace isochrone::mpi::interpose
