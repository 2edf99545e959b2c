// SPDX-License-Identifier: BSD-3-Clause
#include "prove/prove.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <utility>

#include "prove/rank.hpp"

namespace isochrone::core::prove {
namespace {

using namespace schedule;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Follows two operands that were combined, so that contents say how: a b + c + is (a + b) + c.
constexpr Atom combined{-1, -1};

Contents operands(Contents contents) {
    std::erase(contents, combined);
    return contents;
}

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
                case OpKind::library_bcast:
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
        if (op.kind == OpKind::library_bcast) {
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
                    contents[i].push_back(combined);
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

std::string unit_of(std::size_t rank, std::size_t unit) {
    return "rank " + std::to_string(rank) + ", unit " + std::to_string(unit);
}

}  // namespace

std::optional<std::string> prove(const std::vector<Schedule>& schedules, const std::vector<Claim>& claims,
                                 const Options& options) {
    try {
        World world(schedules, claims, options);
        world.run();
        std::map<Contents, std::pair<std::size_t, std::size_t>> first_with;  // rank and unit
        for (std::size_t r = 0; r < claims.size(); ++r) {
            const Memory& output = world.rank(r).output();
            for (std::size_t i = 0; i < claims[r].expected.size(); ++i) {
                Contents expected = claims[r].expected[i];
                if (expected.empty()) continue;
                Contents found = operands(output[i]);
                if (options.commutative) {
                    std::sort(expected.begin(), expected.end());
                    std::sort(found.begin(), found.end());
                }
                if (options.idempotent) {
                    found.erase(std::unique(found.begin(), found.end()), found.end());
                }
                if (expected != found) {
                    return unit_of(r, i) + " holds" + text(operands(output[i])) + " and not" +
                           text(claims[r].expected[i]);
                }
                const auto [rank, unit] = first_with.try_emplace(claims[r].expected[i], r, i).first->second;
                if (!options.idempotent && world.rank(rank).output()[unit] != output[i])
                    return unit_of(r, i) + " is combined in another way than " + unit_of(rank, unit);
            }
        }
        return std::nullopt;
    } catch (const std::exception& failure) {
        return failure.what();
    }
}

}  // namespace isochrone::core::prove
