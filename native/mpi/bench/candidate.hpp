// SPDX-License-Identifier: BSD-3-Clause
//
// One thing to time for a case: the library's own (told which, or not), the plan's choice, or a recipe; or
// the rounds of a pattern.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bench/operands.hpp"
#include "bench/party.hpp"
#include "bench/patterns/flow.hpp"
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

    /// Whether it is one call of the library's own choice, and nothing else.
    [[nodiscard]] bool is_one_call_of_library() const;
    /// Whether the library's own takes part inside groups.
    [[nodiscard]] bool has_library_inside() const;

    /// Whether the library is told which of its algorithms to use. Between `tell` and `untell` a run does not
    /// do so itself: it is no part of a call's time.
    [[nodiscard]] bool is_told() const { return !algorithm_.empty(); }
    void tell() const { party_->library().tell(*case_->collective, algorithm_); }
    void untell() const { party_->library().untell(*case_->collective); }

    /// Collective over the party.
    void run(const Memory& memory) const;

    /// Fills what this rank gives in check number `check`, and writes something else to its output.
    void fill(const Memory& memory, unsigned check) const;
    /// Collective over the party. What must be in the output after a call, where what fill() wrote is there
    /// now: by the library's own choice, whatever the candidate is.
    [[nodiscard]] std::vector<std::byte> expected(const Memory& memory, unsigned check) const;

    /// How many rounds of a pattern are one call, equal on all ranks; 1 at first.
    void set_rounds(int rounds) { rounds_ = rounds; }
    /// In how many parts the time of a call is told: 1 of a collective, those of all rounds of a pattern.
    [[nodiscard]] double parts() const;

  private:
    void run_loop(const Memory& memory) const;
    void run_once(const Memory& memory, int root) const;
    /// Whose turn it is to be the root.
    [[nodiscard]] int root_in(int iteration) const;
    void run_pattern(const Memory& memory) const;
    void run_library(const std::string& algorithm, const Memory& memory, int root) const;
    [[nodiscard]] executor::Dispatcher::Question question(int root) const {
        return {case_->collective, root};
    }
    [[nodiscard]] executor::Buffers buffers(const Memory& memory) const;

    std::string name_;
    std::string algorithm_;
    const Case* case_;
    const Party* party_;
    Operands operands_;
    const core::compose::Resolved* resolved_ = nullptr;
    bool from_plan_ = false;
    patterns::Round round_;
    int rounds_ = 1;
};

}  // namespace isochrone::mpi::bench
