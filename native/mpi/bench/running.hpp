// SPDX-License-Identifier: BSD-3-Clause
//
// A case that is being timed, and how it begins: its candidates are made, and each runs once.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/aligned.hpp"
#include "bench/buffer.hpp"
#include "bench/candidate.hpp"
#include "bench/operands.hpp"
#include "bench/party.hpp"
#include "bench/work.hpp"

namespace isochrone::mpi::bench {

struct Running {
    const Case* one = nullptr;
    const Party* party = nullptr;
    std::vector<Candidate> candidates = {};  ///< made when its turn comes first, and gone when it is done
    std::vector<double> expected_s = {};     ///< of a call, beside the candidates; equal on all ranks
    int repetitions = 0;                     ///< so far, with those of the block to come
    double spent_s = 0;  ///< in their calls, equal on all ranks; of those to come what is expected
    int under_way = 0;   ///< calls of the block to come
    bool is_done = false;
};

/// What calls read and what they write.
class Memories {
  public:
    /// Of the largest call that this rank takes part in.
    Memories(std::int64_t input_bytes, std::int64_t output_bytes)
        : input_(input_bytes), output_(output_bytes) {}

    /// For the next call.
    [[nodiscard]] Memory next(const Operands& operands) {
        return {input_.next(operands.input_bytes), output_.next(operands.output_bytes)};
    }

  private:
    Buffer input_;
    Buffer output_;
};

/// Collective over all ranks of the timer. Simulated ranks share which algorithm the library takes, and those
/// beside the members of a case would see what these have set for a moment: they wait until it is over.
void wait_for_members(const std::vector<int>& members, const AlignedTimer& timer);

/// Collective over all ranks of the timer. Makes the candidates, runs each once, and learns what each takes,
/// more or less; those that the work finds too slow are gone then. Results are compared with that of the
/// library's own: what is fast and wrong must not win. `check` tells this case from others, alike on all
/// ranks. Returns how many calls it made. On all ranks it throws std::invalid_argument where a member cannot
/// run a recipe, and comm::Failure where one leaves wrong bytes on any.
std::int64_t open(Running& running, const Work& work, Memories& memories, const AlignedTimer& timer,
                  unsigned check);

}  // namespace isochrone::mpi::bench
