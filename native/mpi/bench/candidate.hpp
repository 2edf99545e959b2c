// SPDX-License-Identifier: BSD-3-Clause
//
// One thing to time for a case: the library's own (told which, or not), the plan's choice, or a recipe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "bench/operands.hpp"
#include "bench/party.hpp"
#include "bench/work.hpp"

namespace isochrone::mpi::bench {

/// What candidates begin with that are the library's own, told which.
inline constexpr std::string_view native_prefix = "native:";

/// The memory of one call.
struct Memory {
    std::byte* input = nullptr;
    std::byte* output = nullptr;
};

class Candidate {
  public:
    /// Collective over the party; on ranks that take no part nothing is made, and nothing may be run. All
    /// that is made once is made here, so that no call that is timed has to. `one` and `party` must outlive
    /// this. Throws std::invalid_argument, on all ranks of the party, if it cannot be run.
    Candidate(std::string name, const Case& one, const Party& party);

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const Operands& operands() const { return operands_; }

    /// Whether the library's own takes part inside groups.
    [[nodiscard]] bool has_library_inside() const;

    /// Collective over the party.
    void run(const Memory& memory) const;

    /// Collective over the party. The library's own choice, whatever the candidate is.
    void run_library(const Memory& memory) const { run_library("", memory); }

  private:
    void run_library(const std::string& algorithm, const Memory& memory) const;
    [[nodiscard]] executor::Dispatcher::Question question() const { return {case_->collective, case_->root}; }
    [[nodiscard]] executor::Buffers buffers(const Memory& memory) const;

    std::string name_;
    std::string algorithm_;
    const Case* case_;
    const Party* party_;
    Operands operands_;
    const core::compose::Resolved* resolved_ = nullptr;
    bool from_plan_ = false;
};

}  // namespace isochrone::mpi::bench
