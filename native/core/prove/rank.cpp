// SPDX-License-Identifier: BSD-3-Clause
#include "prove/rank.hpp"

#include <algorithm>

namespace isochrone::core::prove {

using namespace schedule;

namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

bool collide(const Use& a, const Use& b) {
    if (a.buffer != b.buffer || (!a.writes && !b.writes)) return false;
    for (const Range& x : a.ranges) {
        for (const Range& y : b.ranges) {
            if (x.offset < y.offset + y.length && y.offset < x.offset + x.length) return true;
        }
    }
    return false;
}

Rank::Rank(const Schedule& schedule, const Claim& claim, int window)
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

bool Rank::segmented(const Op& op) const { return schedule.stages[at(op.stage)].segmented; }

bool Rank::is_counts(const Slice& slice) const {
    return schedule.buffers[at(slice.buffer)].kind == BufferKind::counts;
}

Use Rank::use(const Slice& slice, Instance instance, bool writes) {
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

void Rank::begin(Instance instance, const std::vector<Use>& uses) {
    for (const auto& [other, held] : in_use_) {
        for (const Use& a : held) {
            for (const Use& b : uses) {
                if (collide(a, b)) throw Failure(describe(instance) + " collides with " + describe(other));
            }
        }
    }
    in_use_.emplace_back(instance, uses);
}

void Rank::end(Instance instance) {
    const auto found = std::find_if(in_use_.begin(), in_use_.end(), [&](const auto& entry) {
        return entry.first.op == instance.op && entry.first.segment == instance.segment;
    });
    in_use_.erase(found);
    progress.complete(instance);
}

Memory Rank::read(const Use& use) {
    Memory result;
    for (const Range& range : use.ranges) {
        for (std::int64_t i = range.offset; i < range.offset + range.length; ++i) {
            result.push_back(memory_[at(use.buffer)][at(i)]);
        }
    }
    return result;
}

void Rank::write(const Use& use, const Memory& contents) {
    std::size_t next = 0;
    for (const Range& range : use.ranges) {
        for (std::int64_t i = range.offset; i < range.offset + range.length; ++i) {
            memory_[at(use.buffer)][at(i)] = contents[next++];
        }
    }
}

std::vector<std::int64_t> Rank::read_counts(const Use& use, Instance instance) {
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

void Rank::write_counts(const Use& use, const std::vector<std::int64_t>& counts) {
    std::size_t next = 0;
    for (const Range& range : use.ranges) {
        for (std::int64_t i = range.offset; i < range.offset + range.length; ++i) {
            resolver.table(use.buffer)[at(i)] = counts[next++];
            known_[at(use.buffer)][at(i)] = true;
        }
    }
}

const Memory& Rank::output() const { return memory_[output_buffer]; }

std::string Rank::describe(Instance instance) const {
    static constexpr const char* names[] = {"send", "recv", "reduce", "copy", "collective"};
    const Op& op = schedule.ops[at(instance.op)];
    std::string text = "rank " + std::to_string(schedule.rank) + ", operation " +
                       std::to_string(instance.op) + " (" + names[static_cast<int>(op.kind)];
    if (op.peer >= 0) text += " with " + std::to_string(op.peer);
    return text + "), segment " + std::to_string(instance.segment);
}

}  // namespace isochrone::core::prove
