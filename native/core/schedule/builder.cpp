// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/builder.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace isochrone::core::schedule {
namespace {

struct Access {
    int op;
    const Slice* slice;
    bool writes;
};

/// Whether two slices of one buffer can share bytes, for some extents. Different partitions always can.
bool may_overlap(const Schedule& schedule, const Slice& a, const Slice& b) {
    if (a.partition != b.partition) return true;
    if (a.list < 0 && b.list < 0) return a.first < b.first + b.count && b.first < a.first + a.count;
    const auto contains = [&](const Slice& slice, int block) {
        if (slice.list < 0) return block >= slice.first && block < slice.first + slice.count;
        const auto& list = schedule.lists[static_cast<std::size_t>(slice.list)];
        return std::find(list.begin(), list.end(), block) != list.end();
    };
    const Slice& listed = a.list >= 0 ? a : b;
    const Slice& other = a.list >= 0 ? b : a;
    const auto& list = schedule.lists[static_cast<std::size_t>(listed.list)];
    return std::any_of(list.begin(), list.end(), [&](int block) { return contains(other, block); });
}

/// The accesses of one operation, counts tables that its extents are taken from included.
void accesses_of(const Schedule& schedule, int index, const std::vector<Slice>& tables,
                 std::vector<Access>& result) {
    const Op& op = schedule.ops[static_cast<std::size_t>(index)];
    const bool reads_target = op.kind == OpKind::reduce;
    const auto extents = [&](const Slice& slice) {
        if (slice.partition < 0) return;
        const Partition& partition = schedule.partitions[static_cast<std::size_t>(slice.partition)];
        if (partition.kind != Partition::Kind::counted) return;
        result.push_back({index, &tables[static_cast<std::size_t>(partition.counts)], false});
    };
    if (op.source.buffer >= 0) {
        result.push_back({index, &op.source, false});
        extents(op.source);
    }
    if (op.target.buffer >= 0) {
        result.push_back({index, &op.target, true});
        if (reads_target) result.push_back({index, &op.target, false});
        extents(op.target);
    }
}

}  // namespace

Builder::Builder(int size, int rank) {
    if (size < 1 || rank < 0 || rank >= size) throw std::invalid_argument("rank is not in the communicator");
    schedule_.size = size;
    schedule_.rank = rank;
    schedule_.buffers = {Buffer{.kind = BufferKind::input, .arguments = {}},
                         Buffer{.kind = BufferKind::output, .arguments = {}}};
}

void Builder::stage(bool segmented) {
    schedule_.stages.push_back({static_cast<int>(schedule_.ops.size()), 0, segmented});
}

int Builder::scratch(int slots) {
    const bool segmented = !schedule_.stages.empty() && schedule_.stages.back().segmented;
    schedule_.buffers.push_back({.kind = BufferKind::scratch, .slots = segmented ? slots : 0, .arguments = {}});
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
    // The root reads what the others write; as one slice, written, it is ordered against everything on both sides.
    add({.kind = OpKind::collective, .collective = Collective::bcast, .peer = root, .level = level, .source = data,
         .target = data, .after = {}});
}

void Builder::add(Op op) {
    if (schedule_.stages.empty()) stage(false);
    op.stage = static_cast<int>(schedule_.stages.size()) - 1;
    schedule_.stages.back().op_count += 1;
    schedule_.ops.push_back(std::move(op));
}

Schedule Builder::finish() {
    Schedule& s = schedule_;
    std::vector<Slice> tables(s.buffers.size());
    for (std::size_t b = 0; b < s.buffers.size(); ++b) {
        if (s.buffers[b].kind == BufferKind::counts) {
            tables[b] = blocks(static_cast<int>(b), -1, 0, static_cast<int>(s.buffers[b].arguments.size()));
        }
    }
    std::vector<std::vector<Access>> by_buffer(s.buffers.size());
    std::vector<Access> own;
    for (int index = 0; index < static_cast<int>(s.ops.size()); ++index) {
        own.clear();
        accesses_of(s, index, tables, own);
        auto& after = s.ops[static_cast<std::size_t>(index)].after;
        for (const Access& access : own) {
            for (const Access& before : by_buffer[static_cast<std::size_t>(access.slice->buffer)]) {
                if (!access.writes && !before.writes) continue;
                if (!after.empty() && after.back().op == before.op) continue;
                if (may_overlap(s, *access.slice, *before.slice)) after.push_back({before.op, 0});
            }
        }
        for (const Access& access : own) by_buffer[static_cast<std::size_t>(access.slice->buffer)].push_back(access);
    }
    // A slot is used again `slots` segments later: whoever writes it then waits for all who used it before.
    for (std::size_t b = 0; b < s.buffers.size(); ++b) {
        if (s.buffers[b].slots == 0) continue;
        for (const Access& access : by_buffer[b]) {
            if (!access.writes) continue;
            for (const Access& before : by_buffer[b]) {
                s.ops[static_cast<std::size_t>(access.op)].after.push_back({before.op, s.buffers[b].slots});
            }
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
