// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/extents.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace isochrone::core::schedule {
namespace {

/// Where a block starts, of so many that are as even as can be: length * block / blocks, whose product may be
/// more than 64 bits hold.
std::int64_t even_start(std::int64_t length, std::int64_t block, std::int64_t blocks) {
    return length / blocks * block + length % blocks * block / blocks;
}

std::size_t at(int index) { return static_cast<std::size_t>(index); }

void append(std::vector<Range>& ranges, Range next) {
    if (next.length == 0) return;
    if (!ranges.empty() && ranges.back().offset + ranges.back().length == next.offset) {
        ranges.back().length += next.length;
    } else {
        ranges.push_back(next);
    }
}

}  // namespace

std::int64_t Extents::segments() const {
    if (segment <= 0 || total <= segment) return 1;
    return (total - 1) / segment + 1;
}

Resolver::Resolver(const Schedule& schedule)
    : schedule_(schedule), tables_(schedule.buffers.size()), offsets_(schedule.partitions.size()) {
    for (std::size_t b = 0; b < schedule.buffers.size(); ++b) {
        tables_[b].resize(schedule.buffers[b].arguments.size());
    }
}

Resolver::Resolver(const Schedule& schedule, const Extents& extents) : Resolver(schedule) {
    restart(extents);
}

void Resolver::restart(const Extents& extents) {
    extents_ = &extents;
    for (std::size_t b = 0; b < tables_.size(); ++b) {
        const auto& arguments = schedule_.buffers[b].arguments;
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            if (arguments[i] >= static_cast<int>(extents.counts.size())) {
                throw std::invalid_argument("a count that the schedule needs was not given");
            }
            tables_[b][i] = arguments[i] < 0 ? 0 : extents.counts[at(arguments[i])];
        }
    }
    for (auto& offsets : offsets_) offsets.clear();  // made at first use
}

std::vector<std::int64_t>& Resolver::table(int counts_buffer) { return tables_[at(counts_buffer)]; }

const std::vector<std::int64_t>& Resolver::offsets(int partition) {
    auto& result = offsets_[at(partition)];
    if (result.empty()) {
        const auto& counts = tables_[at(schedule_.partitions[at(partition)].counts)];
        result.resize(counts.size() + 1, 0);
        std::partial_sum(counts.begin(), counts.end(), result.begin() + 1);
    }
    return result;
}

void Resolver::ranges(const Slice& slice, bool segmented, int segment, std::vector<Range>& result) {
    result.clear();
    const auto each_block = [&](auto&& visit) {
        for (int i = 0; i < slice.count; ++i) {
            visit(slice.list < 0 ? slice.first + i : schedule_.lists[at(slice.list)][at(i)]);
        }
    };
    if (slice.partition < 0) {
        each_block([&](int entry) { append(result, {entry, 1}); });
        return;
    }
    const Buffer& buffer = schedule_.buffers[at(slice.buffer)];
    const Partition& partition = schedule_.partitions[at(slice.partition)];
    if (partition.kind == Partition::Kind::counted) {
        const auto& offset = offsets(slice.partition);
        const auto& displacements = slice.buffer == input_buffer    ? extents_->input_displacements
                                    : slice.buffer == output_buffer ? extents_->output_displacements
                                                                    : offset;
        each_block([&](int b) {
            const std::int64_t begin = displacements.empty() ? offset[at(b)] : displacements[at(b)];
            append(result, {begin, offset[at(b) + 1] - offset[at(b)]});
        });
        return;
    }
    std::int64_t base = 0;
    std::int64_t length = extents_->total;
    if (segmented && extents_->segment > 0) {
        const std::int64_t begin = segment * extents_->segment;
        length = std::clamp<std::int64_t>(extents_->total - begin, 0, extents_->segment);
        base = buffer.slots > 0 ? (segment % buffer.slots) * extents_->segment : begin;
    }
    const std::int64_t blocks = partition.blocks;
    if (slice.list < 0) {
        const std::int64_t begin = even_start(length, slice.first, blocks);
        const std::int64_t end = even_start(length, slice.first + slice.count, blocks);
        append(result, {base + begin, end - begin});
        return;
    }
    each_block([&](int b) {
        const std::int64_t begin = even_start(length, b, blocks);
        append(result, {base + begin, even_start(length, b + 1, blocks) - begin});
    });
}

std::int64_t Resolver::length(const Slice& slice, bool segmented, int segment) {
    std::vector<Range> parts;
    ranges(slice, segmented, segment, parts);
    return std::accumulate(parts.begin(), parts.end(), std::int64_t{0},
                           [](std::int64_t sum, const Range& range) { return sum + range.length; });
}

std::int64_t Resolver::scratch_length(int buffer) {
    const Buffer& b = schedule_.buffers[at(buffer)];
    if (b.partition >= 0) return offsets(b.partition).back();
    if (b.slots > 0 && extents_->segment > 0) return std::min(extents_->total, b.slots * extents_->segment);
    return extents_->total;
}

}  // namespace isochrone::core::schedule
