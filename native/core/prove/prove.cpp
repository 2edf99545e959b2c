// SPDX-License-Identifier: BSD-3-Clause
#include "prove/prove.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <stdexcept>
#include <utility>

#include "schedule/progress.hpp"

namespace isochrone::core::prove {
namespace {

using namespace schedule;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// A slice that is in use: read, or written.
struct Use {
    int buffer;
    std::vector<Range> ranges;
    bool writes;
};

bool collide(const Use& a, const Use& b) {
    if (a.buffer != b.buffer || (!a.writes && !b.writes)) return false;
    for (const Range& x : a.ranges) {
        for (const Range& y : b.ranges) {
            if (x.offset < y.offset + y.length && y.offset < x.offset + x.length) return true;
        }
    }
    return false;
}

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// One rank while its schedule runs.
class Rank {
  public:
    Rank(const Schedule& schedule, const Claim& claim, int window)
        : schedule(schedule),
          resolver(schedule, claim.extents),
          progress(schedule, claim.extents.segments(), window),
          memory_(schedule.buffers.size()),
          known_(schedule.buffers.size()) {
        memory_[input_buffer] = claim.input;
        memory_[output_buffer] = claim.output;
        for (std::size_t b = 0; b < schedule.buffers.size(); ++b) {
            for (const int argument : schedule.buffers[b].arguments) known_[b].push_back(argument >= 0);
        }
    }

    [[nodiscard]] bool segmented(const Op& op) const { return schedule.stages[at(op.stage)].segmented; }
    [[nodiscard]] bool is_counts(const Slice& slice) const {
        return schedule.buffers[at(slice.buffer)].kind == BufferKind::counts;
    }

    Use use(const Slice& slice, Instance instance, bool writes) {
        if (slice.partition >= 0) {
            const Partition& partition = schedule.partitions[at(slice.partition)];
            if (partition.kind == Partition::Kind::counted) {
                const auto& known = known_[at(partition.counts)];
                if (!std::all_of(known.begin(), known.end(), [](bool k) { return k; })) {
                    throw Failure(describe(instance) + " uses counts that are not known yet");
                }
            }
        }
        Use result{slice.buffer, {}, writes};
        resolver.ranges(slice, segmented(schedule.ops[at(instance.op)]), instance.segment, result.ranges);
        Memory& memory = memory_[at(slice.buffer)];
        if (schedule.buffers[at(slice.buffer)].kind == BufferKind::scratch) {
            memory.resize(at(resolver.scratch_length(slice.buffer)));
        }
        const auto length = is_counts(slice) ? known_[at(slice.buffer)].size() : memory.size();
        for (const Range& range : result.ranges) {
            if (range.offset < 0 || range.offset + range.length > static_cast<std::int64_t>(length)) {
                throw Failure(describe(instance) + " leaves buffer " + std::to_string(slice.buffer));
            }
        }
        return result;
    }

    /// Takes slices into use; those of one operation may overlap each other only if `self` is their common
    /// operation.
    void begin(Instance instance, const std::vector<Use>& uses) {
        for (const auto& [other, held] : in_use_) {
            for (const Use& a : held) {
                for (const Use& b : uses) {
                    if (collide(a, b))
                        throw Failure(describe(instance) + " collides with " + describe(other));
                }
            }
        }
        in_use_.emplace_back(instance, uses);
    }
    void end(Instance instance) {
        const auto found = std::find_if(in_use_.begin(), in_use_.end(), [&](const auto& entry) {
            return entry.first.op == instance.op && entry.first.segment == instance.segment;
        });
        in_use_.erase(found);
        progress.complete(instance);
    }

    Memory read(const Use& use) {
        Memory result;
        for (const Range& range : use.ranges) {
            for (std::int64_t i = range.offset; i < range.offset + range.length; ++i) {
                result.push_back(memory_[at(use.buffer)][at(i)]);
            }
        }
        return result;
    }
    void write(const Use& use, const Memory& contents) {
        std::size_t next = 0;
        for (const Range& range : use.ranges) {
            for (std::int64_t i = range.offset; i < range.offset + range.length; ++i) {
                memory_[at(use.buffer)][at(i)] = contents[next++];
            }
        }
    }
    std::vector<std::int64_t> read_counts(const Use& use, Instance instance) {
        std::vector<std::int64_t> result;
        for (const Range& range : use.ranges) {
            for (std::int64_t i = range.offset; i < range.offset + range.length; ++i) {
                if (!known_[at(use.buffer)][at(i)])
                    throw Failure(describe(instance) + " sends a count it does not know");
                result.push_back(resolver.table(use.buffer)[at(i)]);
            }
        }
        return result;
    }
    void write_counts(const Use& use, const std::vector<std::int64_t>& counts) {
        std::size_t next = 0;
        for (const Range& range : use.ranges) {
            for (std::int64_t i = range.offset; i < range.offset + range.length; ++i) {
                resolver.table(use.buffer)[at(i)] = counts[next++];
                known_[at(use.buffer)][at(i)] = true;
            }
        }
    }
    [[nodiscard]] const Memory& output() const { return memory_[output_buffer]; }

    [[nodiscard]] std::string describe(Instance instance) const {
        static constexpr const char* names[] = {"send", "recv", "reduce", "copy", "collective"};
        const Op& op = schedule.ops[at(instance.op)];
        std::string text = "rank " + std::to_string(schedule.rank) + ", operation " +
                           std::to_string(instance.op) + " (" + names[static_cast<int>(op.kind)];
        if (op.peer >= 0) text += " with " + std::to_string(op.peer);
        return text + "), segment " + std::to_string(instance.segment);
    }

    const Schedule& schedule;
    Resolver resolver;
    Progress progress;
    bool in_collective = false;

  private:
    std::vector<Memory> memory_;
    std::vector<std::vector<bool>> known_;  // counts, by buffer and entry
    std::vector<std::pair<Instance, std::vector<Use>>> in_use_;
};

/// A started operation that waits for its other side.
struct Waiting {
    int rank;
    Instance instance;
    Use use;
};

/// All ranks and what lies between them.
class World {
  public:
    World(const std::vector<Schedule>& schedules, const std::vector<Claim>& claims, const Options& options)
        : options_(options), random_(options.seed) {
        ranks_.reserve(schedules.size());
        for (std::size_t r = 0; r < schedules.size(); ++r) {
            ranks_.emplace_back(schedules[r], claims[r], options.window);
        }
    }

    void run() {
        std::vector<int> order(ranks_.size());
        for (std::size_t r = 0; r < order.size(); ++r) order[r] = static_cast<int>(r);
        for (;;) {
            std::shuffle(order.begin(), order.end(), random_);
            bool moved = false;
            for (const int rank : order) moved = start(rank) || moved;
            if (!events_.empty()) {
                const auto chosen = at(static_cast<std::int64_t>(random_() % events_.size()));
                std::swap(events_[chosen], events_.back());
                const auto event = std::move(events_.back());
                events_.pop_back();
                happen(event);
                moved = true;
            }
            if (!moved) break;
        }
        for (const Rank& rank : ranks_) {
            if (!rank.progress.finished())
                throw Failure("deadlock: rank " + std::to_string(rank.schedule.rank) + " waits for ever");
        }
        for (const auto& [pair, queue] : sends_) {
            if (!queue.empty())
                throw Failure("a message from " + std::to_string(pair.first) + " is never received");
        }
    }

    [[nodiscard]] const Rank& rank(std::size_t index) const { return ranks_[index]; }

  private:
    /// A matched message, a local operation, or a collective that all have entered.
    struct Event {
        std::vector<Waiting> parties;
    };

    bool start(int r) {
        Rank& rank = ranks_[at(r)];
        if (rank.in_collective) return false;
        std::vector<Instance> ready;
        rank.progress.take_ready(ready);
        for (const Instance instance : ready) {
            const Op& op = rank.schedule.ops[at(instance.op)];
            switch (op.kind) {
                case OpKind::send: {
                    const Use use = rank.use(op.source, instance, false);
                    rank.begin(instance, {use});
                    sends_[{r, op.peer}].push_back({r, instance, use});
                    match(r, op.peer);
                    break;
                }
                case OpKind::recv: {
                    const Use use = rank.use(op.target, instance, true);
                    rank.begin(instance, {use});
                    recvs_[{op.peer, r}].push_back({r, instance, use});
                    match(op.peer, r);
                    break;
                }
                case OpKind::reduce:
                case OpKind::copy: {
                    const Use source = rank.use(op.source, instance, false);
                    const Use target = rank.use(op.target, instance, true);
                    if (collide(source, target)) throw Failure(rank.describe(instance) + " overlaps itself");
                    rank.begin(instance, {source, target});
                    events_.push_back({{{r, instance, source}, {r, instance, target}}});
                    break;
                }
                case OpKind::collective:
                    break;
            }
        }
        Instance instance;
        if (!rank.progress.next_collective(instance)) return !ready.empty();
        rank.in_collective = true;
        const Op& op = rank.schedule.ops[at(instance.op)];
        const Use use = rank.use(op.target, instance, true);
        rank.begin(instance, {use});
        const auto& groups = options_.groups[at(op.level)];
        auto& inside = collectives_[{op.level, groups[at(r)]}];
        inside.push_back({r, instance, use});
        if (std::count(groups.begin(), groups.end(), groups[at(r)]) ==
            static_cast<std::ptrdiff_t>(inside.size())) {
            events_.push_back({std::exchange(inside, {})});
        }
        return true;
    }

    void match(int from, int to) {
        auto& sends = sends_[{from, to}];
        auto& recvs = recvs_[{from, to}];
        while (!sends.empty() && !recvs.empty()) {
            events_.push_back({{sends.front(), recvs.front()}});
            sends.pop_front();
            recvs.pop_front();
        }
    }

    void happen(const Event& event) {
        const Waiting& first = event.parties.front();
        Rank& rank = ranks_[at(first.rank)];
        const Op& op = rank.schedule.ops[at(first.instance.op)];
        if (op.kind == OpKind::collective) {
            broadcast(event);
            return;
        }
        const Waiting& second = event.parties.back();
        Rank& target = ranks_[at(second.rank)];
        const Op& target_op = target.schedule.ops[at(second.instance.op)];
        if (rank.is_counts(op.source) != target.is_counts(target_op.target)) {
            throw Failure(rank.describe(first.instance) + " mixes counts and data");
        }
        if (rank.is_counts(op.source)) {
            const auto counts = rank.read_counts(first.use, first.instance);
            if (counts.size() != static_cast<std::size_t>(length(second.use))) throw mismatch(first, second);
            target.write_counts(second.use, counts);
        } else {
            Memory contents = rank.read(first.use);
            if (contents.size() != static_cast<std::size_t>(length(second.use)))
                throw mismatch(first, second);
            if (op.kind == OpKind::reduce) {
                const Memory right = rank.read(second.use);
                for (std::size_t i = 0; i < contents.size(); ++i) {
                    if (contents[i].empty() || right[i].empty())
                        throw Failure(rank.describe(first.instance) + " combines nothing");
                    contents[i].insert(contents[i].end(), right[i].begin(), right[i].end());
                }
            }
            target.write(second.use, contents);
        }
        rank.end(first.instance);
        if (op.kind == OpKind::send) target.end(second.instance);
    }

    void broadcast(const Event& event) {
        const Op& op =
            ranks_[at(event.parties.front().rank)].schedule.ops[at(event.parties.front().instance.op)];
        const auto root = std::find_if(event.parties.begin(), event.parties.end(),
                                       [&](const Waiting& party) { return party.rank == op.peer; });
        if (root == event.parties.end()) throw Failure("the root of a library broadcast is not in its group");
        const Memory contents = ranks_[at(root->rank)].read(root->use);
        for (const Waiting& party : event.parties) {
            Rank& rank = ranks_[at(party.rank)];
            if (rank.schedule.ops[at(party.instance.op)].peer != op.peer ||
                length(party.use) != length(root->use)) {
                throw Failure(rank.describe(party.instance) + " differs from the root's");
            }
            rank.write(party.use, contents);
            rank.in_collective = false;
            rank.end(party.instance);
        }
    }

    static std::int64_t length(const Use& use) {
        std::int64_t sum = 0;
        for (const Range& range : use.ranges) sum += range.length;
        return sum;
    }
    [[nodiscard]] Failure mismatch(const Waiting& a, const Waiting& b) const {
        return Failure(ranks_[at(a.rank)].describe(a.instance) + " has length " +
                       std::to_string(length(a.use)) + ", but " + ranks_[at(b.rank)].describe(b.instance) +
                       " has " + std::to_string(length(b.use)));
    }

    const Options& options_;
    std::mt19937_64 random_;
    std::vector<Rank> ranks_;
    std::vector<Event> events_;
    std::map<std::pair<int, int>, std::deque<Waiting>> sends_;  // by (from, to)
    std::map<std::pair<int, int>, std::deque<Waiting>> recvs_;
    std::map<std::pair<int, int>, std::vector<Waiting>> collectives_;  // by (level, group)
};

std::string text(const Contents& contents) {
    std::string result;
    for (const Atom& atom : contents) {
        result += " " + std::to_string(atom.rank) + ":" + std::to_string(atom.index);
    }
    return result.empty() ? " nothing" : result;
}

}  // namespace

std::optional<std::string> prove(const std::vector<Schedule>& schedules, const std::vector<Claim>& claims,
                                 const Options& options) {
    try {
        World world(schedules, claims, options);
        world.run();
        for (std::size_t r = 0; r < claims.size(); ++r) {
            const Memory& output = world.rank(r).output();
            for (std::size_t i = 0; i < claims[r].expected.size(); ++i) {
                Contents expected = claims[r].expected[i];
                if (expected.empty()) continue;
                Contents found = output[i];
                if (options.commutative) {
                    std::sort(expected.begin(), expected.end());
                    std::sort(found.begin(), found.end());
                }
                if (expected != found) {
                    return "rank " + std::to_string(r) + ", unit " + std::to_string(i) + " holds" +
                           text(output[i]) + " and not" + text(claims[r].expected[i]);
                }
            }
        }
        return std::nullopt;
    } catch (const std::exception& failure) {
        return failure.what();
    }
}

}  // namespace isochrone::core::prove
