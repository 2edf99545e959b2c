// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/progress.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

namespace isochrone::core::schedule {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

}  // namespace

Progress::Progress(const Schedule& schedule, std::int64_t segment_count, int window) : schedule_(&schedule) {
    const int ops = static_cast<int>(schedule.ops.size());
    states_.resize(at(ops));
    queue_of_.resize(at(ops));
    waiting_.resize(at(ops));
    std::map<std::tuple<OpKind, int>, int> queue_of_key;
    for (int i = 0; i < ops; ++i) {
        const Op& op = schedule.ops[at(i)];
        const bool towards_peer = op.kind == OpKind::send || op.kind == OpKind::recv;
        const bool collective = op.kind == OpKind::library_bcast;
        const int which = towards_peer ? op.peer : collective ? op.level : i;
        const auto [entry, is_new] =
            queue_of_key.try_emplace({op.kind, which}, static_cast<int>(queues_.size()));
        if (is_new) {
            queues_.emplace_back();
            queues_.back().collective = collective;
        }
        has_collectives_ = has_collectives_ || collective;
        queue_of_[at(i)] = entry->second;
        Queue& queue = queues_[at(entry->second)];
        if (queue.runs.empty() || queue.runs.back().stage != op.stage) queue.runs.push_back({op.stage, {}});
        queue.runs.back().ops.push_back(i);
        for (const Dependency& dependency : op.after) {
            auto& list = waiting_[at(dependency.op)];
            if (list.empty() || list.back() != entry->second) list.push_back(entry->second);
        }
    }
    poked_.reserve(queues_.size());
    restart(segment_count, window);
}

void Progress::restart(std::int64_t segment_count, int window) {
    if (segment_count < 1) throw std::invalid_argument("a schedule runs in at least one segment");
    if (segment_count > largest_segment_count) throw std::invalid_argument("there are too many segments");
    if (window < 1 || window > 64) throw std::invalid_argument("the window is not between 1 and 64");
    window_ = window;
    remaining_ = 0;
    for (std::size_t i = 0; i < states_.size(); ++i) {
        const bool segmented = schedule_->stages[at(schedule_->ops[i].stage)].segmented;
        states_[i] = {.instances = segmented ? static_cast<int>(segment_count) : 1};
        remaining_ += states_[i].instances;
    }
    poked_.clear();
    for (std::size_t q = 0; q < queues_.size(); ++q) {
        Queue& queue = queues_[q];
        queue.run = queue.segment = queue.position = queue.under_way = 0;
        queue.poked = true;
        poked_.push_back(static_cast<int>(q));
    }
}

bool Progress::at_end(const Queue& queue) const { return queue.run == static_cast<int>(queue.runs.size()); }

Instance Progress::head(const Queue& queue) const {
    return {queue.runs[at(queue.run)].ops[at(queue.position)], queue.segment};
}

bool Progress::may_start(Instance instance) const {
    const Op& op = schedule_->ops[at(instance.op)];
    // `State::ahead` reaches 64 instances beyond the first one that is not done.
    if (instance.segment - states_[at(instance.op)].done >= 64) return false;
    return std::all_of(op.after.begin(), op.after.end(), [&](const Dependency& dependency) {
        const State& before = states_[at(dependency.op)];
        const bool same_segments = schedule_->stages[at(op.stage)].segmented &&
                                   schedule_->stages[at(schedule_->ops[at(dependency.op)].stage)].segmented;
        if (same_segments) return before.done >= instance.segment - dependency.lag + 1;
        // A slot is used again only within its own stage, so a lag never crosses into an unsegmented one.
        return before.done == before.instances;
    });
}

void Progress::advance(Queue& queue) {
    const Run& run = queue.runs[at(queue.run)];
    if (++queue.position < static_cast<int>(run.ops.size())) return;
    queue.position = 0;
    if (++queue.segment < states_[at(run.ops.front())].instances) return;
    queue.segment = 0;
    ++queue.run;
}

void Progress::take_ready(std::vector<Instance>& ready) {
    while (!poked_.empty()) {
        Queue& queue = queues_[at(poked_.back())];
        poked_.pop_back();
        queue.poked = false;
        if (queue.collective) continue;
        while (!at_end(queue) && queue.under_way < window_ && may_start(head(queue))) {
            ready.push_back(head(queue));
            ++queue.under_way;
            advance(queue);
        }
    }
    std::sort(ready.begin(), ready.end(), [&](const Instance& a, const Instance& b) {
        const auto key = [&](const Instance& i) {
            return std::tuple(schedule_->ops[at(i.op)].stage, i.segment, i.op);
        };
        return key(a) < key(b);
    });
}

bool Progress::next_collective(Instance& instance) {
    if (!has_collectives_) return false;
    for (Queue& queue : queues_) {
        if (!queue.collective || at_end(queue) || queue.under_way > 0 || !may_start(head(queue))) continue;
        const Instance candidate = head(queue);
        const auto key = [&](const Instance& i) {
            return std::tuple(schedule_->ops[at(i.op)].stage, i.segment, i.op);
        };
        const bool all_before_started = std::all_of(queues_.begin(), queues_.end(), [&](const Queue& other) {
            return &other == &queue || at_end(other) || key(head(other)) > key(candidate);
        });
        if (!all_before_started) continue;
        instance = candidate;
        ++queue.under_way;
        advance(queue);
        return true;
    }
    return false;
}

void Progress::poke(int queue) {
    if (queues_[at(queue)].poked) return;
    queues_[at(queue)].poked = true;
    poked_.push_back(queue);
}

void Progress::complete(Instance instance) {
    State& state = states_[at(instance.op)];
    const int distance = instance.segment - state.done;
    if (distance > 0) {
        state.ahead |= std::uint64_t{1} << (distance - 1);
    } else {
        ++state.done;
        while (state.ahead & 1U) {
            state.ahead >>= 1U;
            ++state.done;
        }
        state.ahead >>= 1U;
    }
    --remaining_;
    const int queue = queue_of_[at(instance.op)];
    --queues_[at(queue)].under_way;
    poke(queue);
    for (const int waiting : waiting_[at(instance.op)]) poke(waiting);
}

}  // namespace isochrone::core::schedule
