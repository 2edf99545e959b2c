// SPDX-License-Identifier: BSD-3-Clause
//
// What every rank does while schedules are priced, and when: for pictures, and for other simulators.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"

namespace isochrone::core::simulate {

/// One operation of one rank, in one segment.
struct Step {
    int rank = 0;
    schedule::OpKind kind = schedule::OpKind::copy;
    int peer = -1;   ///< send, recv: the rank at the other end; collective: its root
    int level = -1;  ///< send, recv: where the two ends meet; collective: whose groups take part
    int op = 0;      ///< in the rank's schedule
    int segment = 0;
    std::int64_t size_bytes = 0;
    int sent_by = -1;             ///< recv: the step that sent what it takes
    double begin_s = 0;           ///< the rank's processor begins with it; before, it has waited
    double free_s = 0;            ///< the processor is free for others
    double leave_s = 0;           ///< send: its first byte leaves the sender; else begin_s
    double end_s = 0;             ///< it is done: of a send, when its last byte has left the sender's side
    std::vector<int> after = {};  ///< steps of this rank that were to be done before it began
    int behind = -1;              ///< the step of this rank that was to have started before it; -1: none
};

/// The steps of all ranks, in an order in which none comes before those that it waits for.
struct Timeline {
    std::int64_t most = 0;  ///< so many steps at most
    std::vector<Step> steps = {};

    /// Adds a step; gives its index. Throws std::invalid_argument, in one line, where there are too many.
    int add(Step step);
    /// Throws as `add` does if so many steps are too many.
    void check(std::int64_t steps_at_least) const;
    /// Fills in `after` and `behind`, when all steps are there. What must be done and what must have started
    /// is what schedule::Progress asks for, but for its window.
    void order(const std::vector<schedule::Schedule>& schedules);
};

}  // namespace isochrone::core::simulate
