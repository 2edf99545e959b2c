// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/exchange.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <stdexcept>
#include <string>

#include "simulate/agenda.hpp"
#include "simulate/network.hpp"

namespace isochrone::core::simulate {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

struct Message {
    int from = 0;
    int to = 0;
    int channel = 0;
    std::int64_t size_bytes = 0;
};

/// A message of one round, on its way.
struct Sent {
    int message = 0;
    int round = 0;
};

/// One rank's work, which it does one piece after the other.
struct Rank {
    int round = 0;
    std::size_t first = 0;  ///< of the messages, that it sends
    std::size_t end = 0;
    std::size_t next = 0;
    std::int64_t receives = 0;       ///< in a round
    std::vector<std::int64_t> left;  ///< [round], messages that have not left or come in yet
    double free_s = 0;
};

struct Event {
    enum class Kind : std::uint8_t { send, deliver };
    Kind kind = Kind::send;
    int subject = 0;  // send: the rank; else what was sent
};

/// When each processor of a pool is free.
class Pool {
  public:
    explicit Pool(int processors) {
        for (int i = 0; i < processors; ++i) free_s_.push(0);
    }
    /// Keeps the first that is free busy, from `from_s` on at the earliest; returns when it begins.
    double work(double from_s, double busy_s) {
        const double begin_s = std::max(from_s, free_s_.top());
        free_s_.pop();
        free_s_.push(begin_s + busy_s);
        return begin_s;
    }

  private:
    std::priority_queue<double, std::vector<double>, std::greater<>> free_s_;
};

class Exchange {
  public:
    Exchange(const std::vector<Flow>& flows, int rounds, const place::Layout& layout,
             const Processors& processors, std::int64_t most)
        : layout_(layout),
          processors_(processors),
          network_(layout),
          ranks_(at(layout.size)),
          end_s_(at(rounds), 0.0) {
        check(flows, most);
        for (const int count : processors.counts) pools_.emplace_back(count);
        std::vector<std::vector<const Flow*>> of_rank(ranks_.size());
        for (const Flow& flow : flows) {
            of_rank[at(flow.source)].push_back(&flow);
            ranks_[at(flow.target)].receives += flow.messages;
        }
        for (std::size_t r = 0; r < ranks_.size(); ++r) {
            Rank& rank = ranks_[r];
            rank.next = rank.first = messages_.size();
            for (const Flow* flow : of_rank[r]) add(*flow);
            rank.end = messages_.size();
            const auto sends = static_cast<std::int64_t>(rank.end - rank.first);
            rank.left.assign(at(rounds), sends + rank.receives);
        }
    }

    std::vector<double> run() {
        for (int r = 0; r < layout_.size; ++r) foresee(0, Event::Kind::send, r);
        while (step()) {
        }
        return std::move(end_s_);
    }

  private:
    /// Whether anything has happened.
    bool step() {
        if (News news; network_.next(news)) {
            if (news.kind == News::Kind::left) {
                done(message(news.message).from, sent_[news.message].round, now_s_);
            } else {
                deliver(news.message);
            }
        } else if (network_.next_s() <= agenda_.next_s()) {
            now_s_ = network_.next_s();
            if (now_s_ == std::numeric_limits<double>::infinity()) return false;
            network_.step();
        } else {
            Event event;
            if (!agenda_.next(event)) return false;
            now_s_ = agenda_.now_s();
            event.kind == Event::Kind::send ? send(event.subject) : deliver(event.subject);
        }
        return true;
    }

    void check(const std::vector<Flow>& flows, std::int64_t most) const {
        std::int64_t messages = 0;
        for (const Flow& flow : flows) {
            for (const std::int64_t end : {flow.source, flow.target}) {
                if (end < 0 || end >= layout_.size) {
                    throw std::invalid_argument("there is no rank " + std::to_string(end) + " among " +
                                                std::to_string(layout_.size));
                }
            }
            if (flow.source == flow.target)
                throw std::invalid_argument("rank " + std::to_string(flow.source) + " sends to itself");
            if (flow.messages < 0 || flow.bytes < 0) throw std::invalid_argument("a flow is negative");
            if (flow.messages > most - messages) {
                throw std::invalid_argument("more than " + std::to_string(most) +
                                            " messages are too many to simulate");
            }
            messages += flow.messages;
        }
        const auto& pools = processors_.pool_of;
        const auto known = static_cast<int>(processors_.counts.size());
        if (!pools.empty() &&
            (pools.size() != ranks_.size() ||
             std::any_of(pools.begin(), pools.end(), [&](int pool) { return pool < 0 || pool >= known; }))) {
            throw std::invalid_argument("the pools of processors do not fit the ranks");
        }
        if (std::any_of(processors_.counts.begin(), processors_.counts.end(), [](int n) { return n < 1; }))
            throw std::invalid_argument("a pool has no processor");
    }

    void add(const Flow& flow) {
        if (flow.messages == 0) return;
        const std::pair<int, int> ends{static_cast<int>(flow.source), static_cast<int>(flow.target)};
        const auto [entry, is_new] = channel_of_.try_emplace(ends, 0);
        if (is_new) entry->second = network_.channel(ends.first, ends.second);
        for (std::int64_t i = 0; i < flow.messages; ++i)
            messages_.push_back({ends.first, ends.second, entry->second, flow.bytes / flow.messages});
    }

    [[nodiscard]] const Message& message(int sent) { return messages_[at(sent_[sent].message)]; }

    void foresee(double at_s, Event::Kind kind, int subject) { agenda_.foresee(at_s, {kind, subject}); }

    /// Whether a rank has something else to do, so that an event of it has to wait.
    bool waits(int r, Event::Kind kind, int subject) {
        const double free_s = ranks_[at(r)].free_s;
        if (free_s <= now_s_) return false;
        foresee(free_s, kind, subject);
        return true;
    }

    /// Keeps a rank that has nothing else to do busy; returns when it begins.
    double work(int r, double busy_s) {
        Rank& rank = ranks_[at(r)];
        double begin_s = now_s_;
        if (!processors_.pool_of.empty()) {
            begin_s = pools_[at(processors_.pool_of[at(r)])].work(begin_s, busy_s);
        }
        rank.free_s = begin_s + busy_s;
        return begin_s;
    }

    using Overhead = plogp::Curve plogp::Parameters::*;

    /// What a message keeps the processor of an end busy for.
    [[nodiscard]] double busy_s(const Message& message, Overhead overhead) const {
        const plogp::Parameters& links = network_.links(message.channel);
        const std::int64_t size_bytes = message.size_bytes;
        if (processors_.pool_of.empty()) return plogp::work_s(links, links.*overhead, size_bytes);
        double least_s = work_s(links, size_bytes, overhead);
        const int node = layout_.level("node");
        for (int level = network_.level(message.channel) + 1; level < node; ++level)
            least_s = std::min(least_s, work_s(layout_.links[at(level)], size_bytes, overhead));
        return least_s;
    }

    /// What of an overhead is work, be it known or not.
    static double work_s(const plogp::Parameters& links, std::int64_t size_bytes, Overhead overhead) {
        const plogp::Curve& measured = links.*overhead;
        const bool is_known = std::any_of(measured.points.begin(), measured.points.end(),
                                          [](const auto& point) { return point.second > 0; });
        const plogp::Curve& curve = is_known ? measured : links.send_overhead_s;
        return plogp::work_s(links, curve, size_bytes);
    }

    void send(int r) {
        Rank& rank = ranks_[at(r)];
        if (rank.next == rank.end || waits(r, Event::Kind::send, r)) return;
        const auto index = static_cast<int>(rank.next++);
        const Message& message = messages_[at(index)];
        const double begin_s = work(r, busy_s(message, &plogp::Parameters::send_overhead_s));
        network_.send(message.channel, message.size_bytes, now_s_, begin_s, sent_.keep({index, rank.round}));
        // Another rank may have the processor before this one sends again.
        foresee(rank.free_s, Event::Kind::send, r);
    }

    void deliver(int index) {
        const Message& message = this->message(index);
        if (waits(message.to, Event::Kind::deliver, index)) return;
        work(message.to, busy_s(message, &plogp::Parameters::receive_overhead_s));
        // The last byte has left before it came in, so nothing refers to it any more.
        sent_.release(index);
        done(message.to, sent_[index].round, ranks_[at(message.to)].free_s);
    }

    /// One message less of a round that a rank waits for, from `at_s` on.
    void done(int r, int round, double at_s) {
        Rank& rank = ranks_[at(r)];
        double& end_s = end_s_[at(round)];
        end_s = std::max(end_s, at_s);
        --rank.left[at(round)];
        while (rank.left[at(rank.round)] == 0 && rank.round + 1 < static_cast<int>(end_s_.size())) {
            ++rank.round;
            rank.next = rank.first;
            if (rank.next < rank.end) foresee(std::max(now_s_, rank.free_s), Event::Kind::send, r);
        }
    }

    const place::Layout& layout_;
    const Processors& processors_;
    Network network_;
    std::vector<Rank> ranks_;
    std::vector<Pool> pools_;
    std::map<std::pair<int, int>, int> channel_of_;
    std::vector<Message> messages_;  ///< of one round, by sender
    Slots<Sent> sent_;
    Agenda<Event> agenda_;
    double now_s_ = 0;
    std::vector<double> end_s_;
};

}  // namespace

std::vector<double> exchange_s(const std::vector<Flow>& flows, int rounds, const place::Layout& layout,
                               const Processors& processors, std::int64_t most) {
    if (rounds < 1) throw std::invalid_argument("an exchange has at least one round");
    return Exchange(flows, rounds, layout, processors, most).run();
}

}  // namespace isochrone::core::simulate
