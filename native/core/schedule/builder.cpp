// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/builder.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

namespace isochrone::core::schedule {
namespace {

struct Access {
    int op;
    const Slice* slice;
    bool writes;
};

/// Who used which blocks of one buffer so far. Looking up a slice costs as many steps as it has blocks, not
/// as there were operations: schedules of large groups have thousands.
class History {
  public:
    /// Adds those before that must be waited for, some of them more than once. Blocks of different partitions
    /// can always share bytes.
    void conflicts(const Schedule& schedule, const Access& access, std::vector<Access>& result) const {
        const auto consider = [&](const Access& before) {
            if (access.writes || before.writes) result.push_back(before);
        };
        for (const auto& [partition, uses] : by_partition_) {
            if (partition != access.slice->partition) {
                for (const Access& before : uses.all) consider(before);
                continue;
            }
            each_block(schedule, *access.slice, [&](int block) {
                for (int use = uses.last_of(block); use >= 0;) {
                    const auto& [number, earlier] = uses.of_blocks[static_cast<std::size_t>(use)];
                    consider(uses.all[number]);
                    use = earlier;
                }
            });
        }
    }

    void add(const Schedule& schedule, const Access& access) {
        Uses& uses = by_partition_[access.slice->partition];
        uses.all.push_back(access);
        each_block(schedule, *access.slice, [&](int block) {
            const auto slot = static_cast<std::size_t>(block);
            if (slot >= uses.last.size()) uses.last.resize(slot + 1, -1);
            // Whoever waits for a writer waits for all that the writer waited for.
            uses.of_blocks.emplace_back(uses.all.size() - 1, access.writes ? -1 : uses.last[slot]);
            uses.last[slot] = static_cast<int>(uses.of_blocks.size()) - 1;
        });
    }

  private:
    struct Uses {
        [[nodiscard]] int last_of(int block) const {
            const auto slot = static_cast<std::size_t>(block);
            return slot < last.size() ? last[slot] : -1;
        }
        std::vector<Access> all;
        std::vector<int> last;  // [block]: its last use, an index into of_blocks; -1: none
        std::vector<std::pair<std::size_t, int>> of_blocks;  // index into all; the use of the block before
    };

    template <class Visit>
    static void each_block(const Schedule& schedule, const Slice& slice, Visit&& visit) {
        for (int i = 0; i < slice.count; ++i) {
            visit(slice.list < 0
                      ? slice.first + i
                      : schedule.lists[static_cast<std::size_t>(slice.list)][static_cast<std::size_t>(i)]);
        }
    }

    std::map<int, Uses> by_partition_;
};

/// Which operations are the first to write to a temporary, and which the last to use it: all others come
/// after one of the first and before one of the last.
class Ends {
  public:
    /// `index`: an operation that uses the temporary, after all that it must wait for there: `before`.
    void visit(int index, bool writes, const std::vector<Access>& before) {
        bool is_first = writes;
        for (const Access& access : before) {
            if (access.writes) is_first = false;
            last_.erase(access.op);
        }
        if (is_first) first_.push_back(index);
        last_.insert(index);
    }
    [[nodiscard]] const std::vector<int>& first() const { return first_; }
    [[nodiscard]] const std::set<int>& last() const { return last_; }

  private:
    std::vector<int> first_;
    std::set<int> last_;
};

/// The data, or entries of counts tables, that one operation reads and writes.
void accesses_of(const Schedule& schedule, int index, std::vector<Access>& result) {
    const Op& op = schedule.ops[static_cast<std::size_t>(index)];
    if (op.source.buffer >= 0) result.push_back({index, &op.source, false});
    if (op.target.buffer >= 0) result.push_back({index, &op.target, true});
}

/// Who received entries of each counts table, and whose lengths came out of it since. An operation whose
/// lengths come out of a table needs all of it, so there is nothing to look up by entry. Tables that the
/// caller gives are there from the start: nobody waits for them.
class Tables {
  public:
    explicit Tables(const Schedule& schedule) : schedule_(schedule), of_buffer_(schedule.buffers.size()) {}

    /// Adds to `after` whom the operation must wait for on account of tables, and remembers it.
    void visit(int index, std::vector<Dependency>& after) {
        const Op& op = schedule_.ops[static_cast<std::size_t>(index)];
        for (const Slice* slice : {&op.source, &op.target}) {
            if (slice->buffer < 0 || slice->partition < 0) continue;
            const Partition& partition = schedule_.partitions[static_cast<std::size_t>(slice->partition)];
            if (partition.kind != Partition::Kind::counted) continue;
            Uses& uses = of_buffer_[static_cast<std::size_t>(partition.counts)];
            for (const int writer : uses.writers) after.push_back({writer, 0});
            if (!uses.writers.empty()) uses.readers.push_back(index);
        }
        if (op.target.buffer < 0) return;
        const auto buffer = static_cast<std::size_t>(op.target.buffer);
        if (schedule_.buffers[buffer].kind != BufferKind::counts) return;
        for (const int reader : of_buffer_[buffer].readers) after.push_back({reader, 0});
        of_buffer_[buffer].writers.push_back(index);
    }

  private:
    struct Uses {
        std::vector<int> writers;
        std::vector<int> readers;
    };
    const Schedule& schedule_;
    std::vector<Uses> of_buffer_;
};

}  // namespace

Builder::Builder(int size, int rank) {
    if (size < 1 || rank < 0 || rank >= size) throw std::invalid_argument("rank is not in the communicator");
    schedule_.size = size;
    schedule_.rank = rank;
    schedule_.buffers = {Buffer{.kind = BufferKind::input, .arguments = {}},
                         Buffer{.kind = BufferKind::output, .arguments = {}}};
}

void Builder::stage(bool segmented, int slots) {
    slots_ = segmented ? slots : 0;
    schedule_.stages.push_back({segmented});
}

int Builder::scratch() {
    schedule_.buffers.push_back({.kind = BufferKind::scratch, .slots = slots_, .arguments = {}});
    return static_cast<int>(schedule_.buffers.size()) - 1;
}

int Builder::scratch_counted(int partition) {
    schedule_.buffers.push_back({.kind = BufferKind::scratch, .partition = partition, .arguments = {}});
    return static_cast<int>(schedule_.buffers.size()) - 1;
}

int Builder::counts(std::vector<int> arguments) {
    schedule_.buffers.push_back({.kind = BufferKind::counts, .arguments = std::move(arguments)});
    return static_cast<int>(schedule_.buffers.size()) - 1;
}

int Builder::even(int blocks) {
    const Partition partition{Partition::Kind::even, blocks, -1};
    const auto found = std::find(schedule_.partitions.begin(), schedule_.partitions.end(), partition);
    if (found != schedule_.partitions.end()) return static_cast<int>(found - schedule_.partitions.begin());
    schedule_.partitions.push_back(partition);
    return static_cast<int>(schedule_.partitions.size()) - 1;
}

int Builder::counted(int counts_buffer) {
    const auto& table = schedule_.buffers.at(static_cast<std::size_t>(counts_buffer));
    schedule_.partitions.push_back(
        {Partition::Kind::counted, static_cast<int>(table.arguments.size()), counts_buffer});
    return static_cast<int>(schedule_.partitions.size()) - 1;
}

Slice Builder::whole(int buffer) { return {buffer, even(1), 0, 1, -1}; }

Slice Builder::blocks(int buffer, int partition, int first, int count) const {
    return {buffer, partition, first, count, -1};
}

Slice Builder::blocks(int buffer, int partition, std::vector<int> list) {
    bool is_run = !list.empty();
    for (std::size_t i = 1; i < list.size() && is_run; ++i) is_run = list[i] == list[i - 1] + 1;
    const int count = static_cast<int>(list.size());
    if (is_run) return {buffer, partition, list.front(), count, -1};
    schedule_.lists.push_back(std::move(list));
    return {buffer, partition, 0, count, static_cast<int>(schedule_.lists.size()) - 1};
}

Slice Builder::entries(int buffer, std::vector<int> list) { return blocks(buffer, -1, std::move(list)); }

void Builder::send(int peer, Slice source) {
    add({.kind = OpKind::send, .peer = peer, .source = source, .target = {}, .after = {}});
}

void Builder::recv(int peer, Slice target) {
    add({.kind = OpKind::recv, .peer = peer, .source = {}, .target = target, .after = {}});
}

void Builder::reduce(Slice left, Slice right) {
    add({.kind = OpKind::reduce, .source = left, .target = right, .after = {}});
}

void Builder::copy(Slice source, Slice target) {
    add({.kind = OpKind::copy, .source = source, .target = target, .after = {}});
}

void Builder::library_bcast(int level, int root, Slice data) {
    // The root reads what the others write; as one slice, written, it is ordered against everything on both
    // sides.
    add({.kind = OpKind::library_bcast,
         .peer = root,
         .level = level,
         .source = data,
         .target = data,
         .after = {}});
}

void Builder::add(Op op) {
    if (schedule_.stages.empty()) stage(false);
    op.stage = static_cast<int>(schedule_.stages.size()) - 1;
    for (int before = after_first_; before < after_last_; ++before) op.after.push_back({before, 0});
    if (op.kind == OpKind::send || op.kind == OpKind::recv) {
        auto& messages = messages_[op.kind == OpKind::send ? 0 : 1];
        const int before = static_cast<int>(messages.size()) - bound_;
        if (before >= 0) op.after.push_back({messages[static_cast<std::size_t>(before)], 0});
        messages.push_back(count());
    }
    schedule_.ops.push_back(std::move(op));
}

void Builder::after(int first, int last) {
    after_first_ = first;
    after_last_ = last;
}

void Builder::bound(int messages) { bound_ = messages; }

Schedule Builder::finish() {
    Schedule& s = schedule_;
    std::vector<History> histories(s.buffers.size());
    std::vector<Ends> ends(s.buffers.size());
    Tables tables(s);
    std::vector<Access> own;
    std::vector<Access> before;
    for (int index = 0; index < static_cast<int>(s.ops.size()); ++index) {
        own.clear();
        accesses_of(s, index, own);
        auto& after = s.ops[static_cast<std::size_t>(index)].after;
        tables.visit(index, after);
        for (const Access& access : own) {
            const auto buffer = static_cast<std::size_t>(access.slice->buffer);
            before.clear();
            histories[buffer].conflicts(s, access, before);
            for (const Access& earlier : before) after.push_back({earlier.op, 0});
            if (s.buffers[buffer].slots > 0) ends[buffer].visit(index, access.writes, before);
        }
        for (const Access& access : own)
            histories[static_cast<std::size_t>(access.slice->buffer)].add(s, access);
    }
    // A slot is used again `slots` segments later: whoever writes it then waits for all who used it before.
    for (std::size_t b = 0; b < s.buffers.size(); ++b) {
        for (const int first : ends[b].first()) {
            auto& after = s.ops[static_cast<std::size_t>(first)].after;
            for (const int last : ends[b].last()) after.push_back({last, s.buffers[b].slots});
        }
    }
    for (Op& op : s.ops) {
        // A dependency without lag implies the same one with a lag.
        std::sort(op.after.begin(), op.after.end(), [](const Dependency& a, const Dependency& b) {
            return a.op != b.op ? a.op < b.op : a.lag < b.lag;
        });
        op.after.erase(std::unique(op.after.begin(), op.after.end(),
                                   [](const Dependency& a, const Dependency& b) { return a.op == b.op; }),
                       op.after.end());
    }
    return std::exchange(schedule_, {});
}

}  // namespace isochrone::core::schedule
