// SPDX-License-Identifier: BSD-3-Clause
//
// What trials have found in the calls of a program, for its next run: rules as a plan has them, in a file of
// this job's own. `isochrone run` folds such files into the plan.
#pragma once

#include <map>
#include <string>

#include "executor/live.hpp"
#include "select/plan.hpp"

namespace isochrone::mpi::interpose {

class Learned {
  public:
    /// Of a round that was decided; it takes the place of what was found before for such calls. Where it
    /// shows nothing, that is no more what this communicator found. Nothing where operands have to keep their
    /// order.
    void note(const executor::Live::Kind& kind, const std::string& order);

    /// Writes a new file into a folder, which is made if it is missing; nothing where nothing was found. The
    /// file is there as a whole or not at all. Says in one line on stderr if that fails.
    void write(const std::string& folder, const core::select::Plan& plan) const;

  private:
    struct Rule {
        std::string text;                          // JSON
        const executor::Live::Kind* of = nullptr;  // that found it, to be compared alone
    };
    std::map<std::string, Rule> rules_;  // by what they are for
};

}  // namespace isochrone::mpi::interpose
