// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/simulate.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <queue>
#include <stdexcept>
#include <utility>

#include "place/window.hpp"
#include "schedule/progress.hpp"
#include "simulate/agenda.hpp"
#include "simulate/network.hpp"

namespace isochrone::core::simulate {
namespace {

using namespace schedule;

constexpr std::int64_t count_bytes = 8;  // an entry of a counts buffer

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// One rank while its schedule runs.
struct Rank {
    Rank(const Schedule& schedule_, const Extents& extents, int window)
        : schedule(&schedule_),
          resolver(schedule_, extents),
          progress(schedule_, extents.segments(), window),
          channel_of_op(schedule_.ops.size(), -1),
          has_collectives(std::any_of(schedule_.ops.begin(), schedule_.ops.end(),
                                      [](const Op& op) { return op.kind == OpKind::library_bcast; })) {}

    /// Keeps the processor busy from `now_s`, or from when it is free; returns when it begins.
    double work(double now_s, double busy_s) {
        const double begin_s = std::max(now_s, processor_free_s);
        processor_free_s = begin_s + busy_s;
        return begin_s;
    }

    const Schedule* schedule;
    Resolver resolver;
    Progress progress;
    std::vector<int> channel_of_op;
    bool has_collectives;
    bool in_collective = false;
    double processor_free_s = 0;
};

struct Message {
    int channel = 0;
    std::int64_t size_bytes = 0;
    Instance sent_by;
    std::vector<std::int64_t> counts;  // what it carries, if it carries counts
    int step = -1;                     // of its send, in the timeline
};

struct Posted {
    Instance instance;
    std::int64_t size_bytes = 0;
};

/// All that goes from one rank to another. The k-th message meets the k-th receive.
struct Channel {
    int from = 0;
    int to = 0;
    std::queue<int> arrived;  // messages that no receive has been posted for
    std::queue<Posted> posted;
};

/// An operation of a rank is done.
struct Done {
    int rank = 0;
    Instance instance = {};
};

double library_bcast_s(const plogp::Parameters& links, std::size_t ranks, std::int64_t size_bytes) {
    if (ranks < 2) return 0;
    const auto depth = static_cast<double>(std::bit_width(ranks - 1));
    return depth * (links.latency_s + links.gap_s.at(0) + links.receive_overhead_s.at(size_bytes)) +
           links.gap_s.at(size_bytes) - links.gap_s.at(0);
}

class World {
  public:
    World(const std::vector<Schedule>& schedules, const std::vector<Extents>& extents,
          const place::Layout& layout, const Options& options)
        : schedules_(schedules),
          layout_(layout),
          options_(options),
          timeline_(options.timeline),
          network_(layout) {
        outcome_.finish_s.resize(schedules.size());
        outcome_.level_bytes.resize(layout.levels.size());
        ranks_.reserve(schedules.size());
        std::map<std::pair<int, int>, int> channels;
        for (std::size_t r = 0; r < schedules.size(); ++r) {
            const int window = options.window > 0
                                   ? options.window
                                   : place::window(layout, extents[r].segment * options.unit_bytes);
            Rank& rank = ranks_.emplace_back(schedules[r], extents[r], window);
            for (std::size_t i = 0; i < schedules[r].ops.size(); ++i) {
                const Op& op = schedules[r].ops[i];
                if (op.kind != OpKind::send && op.kind != OpKind::recv) continue;
                std::pair<int, int> ends{static_cast<int>(r), op.peer};
                if (op.kind == OpKind::recv) std::swap(ends.first, ends.second);
                const auto [entry, is_new] = channels.try_emplace(ends, static_cast<int>(channels_.size()));
                if (is_new) {
                    network_.channel(ends.first, ends.second);
                    channels_.push_back({ends.first, ends.second, {}, {}});
                }
                rank.channel_of_op[i] = entry->second;
            }
        }
    }

    Outcome run() {
        for (int r = 0; r < static_cast<int>(ranks_.size()); ++r) start(r);
        while (step()) {
            if (now_s_ > options_.limit_s) {
                outcome_.slowest_s = std::numeric_limits<double>::infinity();
                return std::move(outcome_);
            }
        }
        for (const Rank& rank : ranks_) {
            if (!rank.progress.finished()) {
                throw std::invalid_argument("rank " + std::to_string(rank.schedule->rank) +
                                            " waits for ever");
            }
        }
        if (timeline_ != nullptr) timeline_->order(schedules_);
        outcome_.slowest_s = *std::max_element(outcome_.finish_s.begin(), outcome_.finish_s.end());
        return std::move(outcome_);
    }

  private:
    /// Whether anything has happened.
    bool step() {
        if (News news; network_.next(news)) {
            (news.kind == News::Kind::left) ? left(news) : deliver(news.message);
        } else if (network_.next_s() <= agenda_.next_s()) {
            now_s_ = network_.next_s();
            if (now_s_ == std::numeric_limits<double>::infinity()) return false;
            network_.step();
        } else {
            Done done;
            if (!agenda_.next(done)) return false;
            now_s_ = agenda_.now_s();
            complete(done.rank, done.instance);
        }
        return true;
    }

    [[nodiscard]] static bool is_counts(const Rank& rank, const Slice& slice) {
        return rank.schedule->buffers[at(slice.buffer)].kind == BufferKind::counts;
    }

    std::int64_t length_bytes(Rank& rank, const Slice& slice, Instance instance) const {
        const Op& op = rank.schedule->ops[at(instance.op)];
        const bool segmented = rank.schedule->stages[at(op.stage)].segmented;
        const std::int64_t unit = is_counts(rank, slice) ? count_bytes : options_.unit_bytes;
        return unit * rank.resolver.length(slice, segmented, instance.segment);
    }

    /// Calls `visit` with each entry of a slice of a counts buffer.
    template <class Visit>
    void each_count(Rank& rank, const Slice& slice, Visit&& visit) {
        rank.resolver.ranges(slice, false, 0, ranges_);
        auto& table = rank.resolver.table(slice.buffer);
        for (const Range& range : ranges_) {
            for (std::int64_t i = range.offset; i < range.offset + range.length; ++i) visit(table[at(i)]);
        }
    }

    /// A step that keeps the rank's processor busy until it is free, and is done then.
    Step step_of(const Rank& rank, Instance instance, int level, std::int64_t size_bytes,
                 double begin_s) const {
        const Op& op = rank.schedule->ops[at(instance.op)];
        return {.rank = rank.schedule->rank,
                .kind = op.kind,
                .peer = op.peer,
                .level = level,
                .op = instance.op,
                .segment = instance.segment,
                .size_bytes = size_bytes,
                .begin_s = begin_s,
                .free_s = rank.processor_free_s,
                .leave_s = begin_s,
                .end_s = rank.processor_free_s};
    }

    void take_counts(Rank& rank, const Slice& target, const std::vector<std::int64_t>& counts) {
        auto next = counts.begin();
        each_count(rank, target, [&](std::int64_t& count) { count = next == counts.end() ? 0 : *next++; });
    }

    /// Local work of a rank.
    void work(int r, const Op& op, Instance instance) {
        Rank& rank = ranks_[at(r)];
        const std::int64_t size_bytes = length_bytes(rank, op.source, instance);
        if (is_counts(rank, op.source)) {
            std::vector<std::int64_t> counts;
            each_count(rank, op.source, [&](std::int64_t count) { counts.push_back(count); });
            take_counts(rank, op.target, counts);
        }
        const double begin_s = rank.work(now_s_, static_cast<double>(size_bytes) * options_.gamma_s_per_byte);
        if (timeline_ != nullptr) timeline_->add(step_of(rank, instance, -1, size_bytes, begin_s));
        agenda_.foresee(rank.processor_free_s, {r, instance});
    }

    void start(int r) {
        Rank& rank = ranks_[at(r)];
        if (rank.in_collective) return;
        ready_.clear();
        rank.progress.take_ready(ready_);
        // As ranks do: what takes this processor's time comes after what does not.
        for (const Instance instance : ready_) {
            const Op& op = rank.schedule->ops[at(instance.op)];
            if (op.kind == OpKind::send) send(rank, op, instance);
            if (op.kind == OpKind::recv) post(rank, op, instance);
        }
        for (const Instance instance : ready_) {
            const Op& op = rank.schedule->ops[at(instance.op)];
            if (op.kind == OpKind::reduce || op.kind == OpKind::copy) work(r, op, instance);
        }
        Instance instance;
        if (rank.has_collectives && rank.progress.next_collective(instance)) enter_collective(r, instance);
    }

    void send(Rank& rank, const Op& op, Instance instance) {
        const int channel = rank.channel_of_op[at(instance.op)];
        const plogp::Parameters& links = network_.links(channel);
        const int level = network_.level(channel);
        Message message{channel, length_bytes(rank, op.source, instance), instance, {}, -1};
        if (is_counts(rank, op.source)) {
            each_count(rank, op.source, [&](std::int64_t count) { message.counts.push_back(count); });
        }
        const std::int64_t size_bytes = message.size_bytes;
        const double busy_s = plogp::work_s(links, links.send_overhead_s, size_bytes);
        const double begin_s = rank.work(now_s_, busy_s);
        if (timeline_ != nullptr)
            message.step = timeline_->add(step_of(rank, instance, level, size_bytes, begin_s));
        ++outcome_.messages;
        outcome_.level_bytes[at(level)] += size_bytes;
        network_.send(channel, size_bytes, now_s_, begin_s, messages_.keep(std::move(message)));
    }

    void left(const News& news) {
        const Message& message = messages_[news.message];
        if (timeline_ != nullptr) {
            Step& step = timeline_->steps[at(message.step)];
            step.leave_s = news.began_s;
            step.end_s = now_s_;
        }
        complete(channels_[at(message.channel)].from, message.sent_by);
    }

    void deliver(int index) {
        Channel& channel = channels_[at(messages_[index].channel)];
        if (channel.posted.empty()) {
            channel.arrived.push(index);
            return;
        }
        receive(channel, channel.posted.front(), index);
        channel.posted.pop();
    }

    void post(Rank& rank, const Op& op, Instance instance) {
        Channel& channel = channels_[at(rank.channel_of_op[at(instance.op)])];
        const Posted posted{instance, length_bytes(rank, op.target, instance)};
        if (channel.arrived.empty()) {
            channel.posted.push(posted);
            return;
        }
        receive(channel, posted, channel.arrived.front());
        channel.arrived.pop();
    }

    void receive(const Channel& channel, const Posted& posted, int index) {
        Message& message = messages_[index];
        if (message.size_bytes != posted.size_bytes) {
            throw std::invalid_argument("rank " + std::to_string(channel.from) + " sends " +
                                        std::to_string(message.size_bytes) + " bytes to rank " +
                                        std::to_string(channel.to) + ", which receives " +
                                        std::to_string(posted.size_bytes));
        }
        Rank& rank = ranks_[at(channel.to)];
        const Slice& target = rank.schedule->ops[at(posted.instance.op)].target;
        if (is_counts(rank, target)) take_counts(rank, target, message.counts);
        const double begin_s =
            rank.work(now_s_, network_.links(message.channel).receive_overhead_s.at(message.size_bytes));
        if (timeline_ != nullptr) {
            Step step =
                step_of(rank, posted.instance, network_.level(message.channel), message.size_bytes, begin_s);
            step.sent_by = message.step;
            timeline_->add(std::move(step));
        }
        agenda_.foresee(rank.processor_free_s, {channel.to, posted.instance});
        messages_.release(index);
    }

    void enter_collective(int r, Instance instance) {
        Rank& rank = ranks_[at(r)];
        rank.in_collective = true;
        const Op& op = rank.schedule->ops[at(instance.op)];
        const auto& group_of = layout_.group_of.at(at(op.level));
        auto& inside = collectives_[{op.level, group_of[at(r)]}];
        inside.emplace_back(r, instance);
        if (std::count(group_of.begin(), group_of.end(), group_of[at(r)]) !=
            static_cast<std::ptrdiff_t>(inside.size())) {
            return;
        }
        double end_s = now_s_;
        for (const auto& [member, ignored] : inside)
            end_s = std::max(end_s, ranks_[at(member)].processor_free_s);
        const double begin_s = end_s;
        const std::int64_t size_bytes = length_bytes(rank, op.target, instance);
        end_s += library_bcast_s(layout_.links[at(op.level)], inside.size(), size_bytes);
        for (const auto& [member, its_instance] : inside) {
            ranks_[at(member)].processor_free_s = end_s;
            if (timeline_ != nullptr) {
                timeline_->add(step_of(ranks_[at(member)], its_instance, op.level, size_bytes, begin_s));
            }
            agenda_.foresee(end_s, {member, its_instance});
        }
        inside.clear();
    }

    void complete(int r, Instance instance) {
        Rank& rank = ranks_[at(r)];
        if (rank.schedule->ops[at(instance.op)].kind == OpKind::library_bcast) rank.in_collective = false;
        rank.progress.complete(instance);
        outcome_.finish_s[at(r)] = now_s_;
        start(r);
    }

    const std::vector<Schedule>& schedules_;
    const place::Layout& layout_;
    const Options& options_;
    Timeline* timeline_;  // nullptr: none is wanted
    Network network_;
    std::vector<Rank> ranks_;
    std::vector<Channel> channels_;
    Slots<Message> messages_;
    std::map<std::pair<int, int>, std::vector<std::pair<int, Instance>>> collectives_;  // by (level, group)
    Agenda<Done> agenda_;
    double now_s_ = 0;
    std::vector<Instance> ready_;
    std::vector<Range> ranges_;
    Outcome outcome_;
};

}  // namespace

Outcome simulate(const std::vector<Schedule>& schedules, const std::vector<Extents>& extents,
                 const place::Layout& layout, const Options& options) {
    if (schedules.empty() || schedules.size() != extents.size() || schedules.size() != at(layout.size)) {
        throw std::invalid_argument("schedules, extents and layout are not of the same number of ranks");
    }
    return World(schedules, extents, layout, options).run();
}

}  // namespace isochrone::core::simulate
