// SPDX-License-Identifier: BSD-3-Clause
//
// Builds a Schedule from operations written in the order in which one would do them by hand. What must come
// before what is not written: it follows from the slices that each operation reads and writes (read after
// write, write after read, write after write), as in a sequential program. So algorithms compose by being
// written one after the other.
#pragma once

#include <array>
#include <vector>

#include "schedule/schedule.hpp"

namespace isochrone::core::schedule {

/// So many sends, and as many receives, a rank has under way at once, whatever the number of its peers; in a
/// segmented stage so many of each segment.
inline constexpr int most_under_way = 32;

class Builder {
  public:
    /// A schedule for `rank` of a communicator of `size` ranks. Throws std::invalid_argument if rank is not
    /// in [0, size).
    Builder(int size, int rank);

    [[nodiscard]] int size() const { return schedule_.size; }
    [[nodiscard]] int rank() const { return schedule_.rank; }

    /// Starts a stage. Operations of a segmented stage run once per segment, of another once. `slots`:
    /// segments that its temporaries hold, used in turn; so many can be under way.
    void stage(bool segmented, int slots = 4);

    /// A temporary as long as the message, or in a segmented stage as its slots.
    int scratch();
    /// A temporary laid out by a counted partition.
    int scratch_counted(int partition);
    /// A table of block lengths: entry i starts as the caller's count number arguments[i], or is received
    /// where that is -1.
    int counts(std::vector<int> arguments);

    int even(int blocks);
    int counted(int counts_buffer);

    /// The whole message (or segment) in one block.
    [[nodiscard]] Slice whole(int buffer);
    [[nodiscard]] Slice blocks(int buffer, int partition, int first, int count = 1) const;
    /// Blocks in any order; an ascending run without gaps is stored as one.
    [[nodiscard]] Slice blocks(int buffer, int partition, std::vector<int> list);
    /// Entries of a counts buffer.
    [[nodiscard]] Slice entries(int buffer, std::vector<int> list);

    void send(int peer, Slice source);
    void recv(int peer, Slice target);
    void reduce(Slice left, Slice right);
    void copy(Slice source, Slice target);
    /// The library's own broadcast among the ranks that share this rank's group at `level`; `root` is a rank
    /// of the communicator in that group.
    void library_bcast(int level, int root, Slice data);

    /// Number of operations so far.
    [[nodiscard]] int count() const { return static_cast<int>(schedule_.ops.size()); }
    /// The operations that follow wait for operations `first` to `last - 1` too, until this is called anew.
    void after(int first, int last);
    /// Of the sends that follow at most so many are under way at once, over all peers, and of the receives:
    /// each waits for the one that is so many before it in its direction. most_under_way, until this is
    /// called.
    ///
    /// No ranks wait for each other for ever on this account as long as there is one order of all messages
    /// between them (by round; along a tree by its depth) in which each rank writes its sends, and in which
    /// it writes its receives, and whatever a message needs comes before it: then both its ends wait for
    /// earlier ones only. That holds for algorithms one after the other too, since all ranks write them in
    /// that order. The proofs run half of their schedules with one send and one receive at a time: who gets
    /// through then, with any more as well, since each wait of a wider bound is one of these.
    void bound(int messages);

    /// The finished schedule, with its dependencies. The builder is left empty.
    [[nodiscard]] Schedule finish();

  private:
    void add(Op op);
    Schedule schedule_;
    int slots_ = 0;
    int after_first_ = 0;
    int after_last_ = 0;
    int bound_ = most_under_way;
    std::array<std::vector<int>, 2> messages_;  // operations so far that send, and that receive
};

}  // namespace isochrone::core::schedule
