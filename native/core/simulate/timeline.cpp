// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/timeline.hpp"

#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

namespace isochrone::core::simulate {
namespace {

using namespace schedule;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

bool is_segmented(const Schedule& schedule, const Op& op) { return schedule.stages[at(op.stage)].segmented; }

/// The queue of schedule::Progress that an operation stands in.
int queue_of(const Step& step, const Op& op) {
    switch (step.kind) {
        case OpKind::send:
        case OpKind::recv:
            return op.peer;
        case OpKind::library_bcast:
            return op.level;
        default:
            return step.op;
    }
}

}  // namespace

void Timeline::check(std::int64_t steps_at_least) const {
    if (steps_at_least > most) {
        throw std::invalid_argument(
            "the ranks do more than " + std::to_string(most) +
            " operations, segment by segment; fewer ranks or larger segments need less");
    }
}

int Timeline::add(Step step) {
    const auto index = static_cast<int>(steps.size());
    check(index + std::int64_t{1});
    steps.push_back(std::move(step));
    return index;
}

void Timeline::order(const std::vector<Schedule>& schedules) {
    std::vector<std::vector<std::map<int, int>>> step_of;  // [rank][op], by segment
    for (const Schedule& schedule : schedules) step_of.emplace_back(schedule.ops.size());
    std::map<std::tuple<int, OpKind, int>, int> last;  // by rank and queue
    for (std::size_t i = 0; i < steps.size(); ++i) {
        Step& step = steps[i];
        const Schedule& schedule = schedules[at(step.rank)];
        const Op& op = schedule.ops[at(step.op)];
        auto& mine = step_of[at(step.rank)];
        for (const Dependency& dependency : op.after) {
            const auto& before = mine[at(dependency.op)];
            if (is_segmented(schedule, op) && is_segmented(schedule, schedule.ops[at(dependency.op)])) {
                // Those of earlier segments are waited for by what this step is behind.
                const auto found = before.find(step.segment - dependency.lag);
                if (found != before.end()) step.after.push_back(found->second);
            } else {
                for (const auto& [segment, index] : before) step.after.push_back(index);
            }
        }
        const auto [entry, is_first] =
            last.try_emplace({step.rank, step.kind, queue_of(step, op)}, static_cast<int>(i));
        if (!is_first) step.behind = std::exchange(entry->second, static_cast<int>(i));
        mine[at(step.op)][step.segment] = static_cast<int>(i);
    }
}

}  // namespace isochrone::core::simulate
