// SPDX-License-Identifier: BSD-3-Clause
//
// The sizes that a schedule runs with, and the byte ranges that its slices stand for then.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"

namespace isochrone::core::schedule {

/// Lengths are in units: packed bytes, or whole elements for reductions.
struct Extents {
    std::int64_t total = 0;            ///< length of the message
    std::int64_t segment = 0;          ///< length of a segment; 0: one segment holds the whole message
    std::vector<std::int64_t> counts;  ///< the caller's counts, which `Buffer::arguments` number
    /// Where the blocks of the caller's buffers begin, where they do not simply follow one another.
    std::vector<std::int64_t> input_displacements;
    std::vector<std::int64_t> output_displacements;

    /// Number of segments, at least 1.
    [[nodiscard]] std::int64_t segments() const;
};

struct Range {
    std::int64_t offset = 0;
    std::int64_t length = 0;
};

/// Turns slices into ranges. Holds the counts tables, which fill up while the schedule runs.
class Resolver {
  public:
    /// Both must outlive the resolver. Throws std::invalid_argument if a table names a count that the caller
    /// did not give.
    Resolver(const Schedule& schedule, const Extents& extents);

    /// Without sizes: to be given by restart() before anything is asked.
    explicit Resolver(const Schedule& schedule);

    /// Begins anew with other sizes, which must outlive their use. Allocates nothing.
    void restart(const Extents& extents);

    /// The ranges of a slice in one segment, neighbours joined; empty if the slice is empty. Of a counts
    /// buffer the ranges are in entries. All counts that the slice depends on must have been received.
    void ranges(const Slice& slice, bool segmented, int segment, std::vector<Range>& result);
    [[nodiscard]] std::int64_t length(const Slice& slice, bool segmented, int segment);
    /// Length of a scratch buffer that is laid out as an image or by a counted partition, in units.
    [[nodiscard]] std::int64_t scratch_length(int buffer);

    [[nodiscard]] std::vector<std::int64_t>& table(int counts_buffer);

  private:
    const std::vector<std::int64_t>& offsets(int partition);

    const Schedule& schedule_;
    const Extents* extents_ = nullptr;
    std::vector<std::vector<std::int64_t>> tables_;   // by buffer
    std::vector<std::vector<std::int64_t>> offsets_;  // by partition; made at first use
};

}  // namespace isochrone::core::schedule
