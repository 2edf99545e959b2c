// SPDX-License-Identifier: BSD-3-Clause
//
// Which operations of a schedule may start now. The executor, the simulator and the prover all ask this one
// class, so what is proved and priced is what runs.
//
// Operations stand in queues, and each queue starts its instances in order: one queue for each peer and
// direction (that is what matches messages without tags), one for each local operation, one for all library
// collectives of a level.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "schedule/schedule.hpp"

namespace isochrone::core::schedule {

struct Instance {
    int op = 0;
    int segment = 0;
};

/// Segments are counted in int.
inline constexpr std::int64_t largest_segment_count = std::numeric_limits<int>::max();

class Progress {
  public:
    /// `window` (1 to 64) bounds the instances of one queue that are under way at once. The schedule must
    /// outlive this. Throws std::invalid_argument where `segment_count` is not from 1 to
    /// largest_segment_count.
    Progress(const Schedule& schedule, std::int64_t segment_count, int window);

    /// Begins anew, with the schedule that is laid out already. Allocates nothing.
    void restart(std::int64_t segment_count, int window);

    /// Takes all instances that may start now, in an order in which they may start. Sends, receives,
    /// reductions and copies only: see next_collective.
    void take_ready(std::vector<Instance>& ready);

    /// Takes a library collective that may start now. A rank that is inside one starts nothing else, so it
    /// enters only once everything listed before has been started; with that, no cycle of ranks waits for
    /// itself. False: none may.
    bool next_collective(Instance& instance);

    /// Says that a taken instance is done.
    void complete(Instance instance);

    [[nodiscard]] bool finished() const { return remaining_ == 0; }

  private:
    struct Run {  // the operations of one queue in one stage
        int stage = 0;
        std::vector<int> ops;
    };
    struct Queue {
        std::vector<Run> runs;
        int run = 0;       // the cursor: which run,
        int segment = 0;   // which segment,
        int position = 0;  // and which operation of the run comes next
        int under_way = 0;
        bool collective = false;
        bool poked = true;
    };
    struct State {
        int done = 0;             // instances 0 .. done-1 have completed
        std::uint64_t ahead = 0;  // bit i: instance done+1+i has completed too
        int instances = 1;
    };

    void poke(int queue);
    [[nodiscard]] bool at_end(const Queue& queue) const;
    [[nodiscard]] Instance head(const Queue& queue) const;
    [[nodiscard]] bool may_start(Instance instance) const;
    void advance(Queue& queue);

    const Schedule* schedule_;
    int window_ = 1;
    std::int64_t remaining_ = 0;
    bool has_collectives_ = false;
    std::vector<State> states_;
    std::vector<int> queue_of_;
    std::vector<std::vector<int>> waiting_;  // by op: the queues with operations that wait for it
    std::vector<Queue> queues_;
    std::vector<int> poked_;
};

}  // namespace isochrone::core::schedule
