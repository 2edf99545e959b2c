// SPDX-License-Identifier: BSD-3-Clause
//
// What one rank does in one collective: a short list of operations and which must come before which.
//
// A Schedule is the *shape* only: peers, order, and slices named by block. It says nothing of sizes. The
// sizes come from `Extents` when it runs (extents.hpp), so one schedule serves every message size, and its
// length does not grow with the number of segments: an operation of a segmented stage stands for one instance
// per segment.
//
//   stage (segmented)          segment 0      segment 1      segment 2
//     recv  from parent           |              |              |          each instance follows the
//     instances of its send  to child A            v              v              v          dependencies in
//     the same segment send  to child B
//
// Operations towards one peer keep this order in each direction: by stage, then by segment, then by place in
// the list. So the k-th send to a peer meets that peer's k-th receive from this rank, whatever completes
// first.
#pragma once

#include <cstdint>
#include <vector>

namespace isochrone::core::schedule {

/// Where bytes live. The first two are the caller's; the others belong to the schedule.
enum class BufferKind : std::uint8_t {
    input,    ///< the caller's send buffer; read only
    output,   ///< the caller's receive buffer (the only buffer of a broadcast)
    scratch,  ///< temporary
    counts,   ///< block lengths: one 64-bit integer per block of a counted partition
};

/// A buffer. Ids 0 and 1 are always the caller's input and output.
struct Buffer {
    BufferKind kind = BufferKind::scratch;
    /// scratch: the counted partition that lays it out, or -1 for an image of the message (as long as the
    /// message).
    int partition = -1;
    /// scratch images in a segmented stage: how many segments it holds at once, used in turn; 0: the whole
    /// message.
    int slots = 0;
    /// counts: for each entry the index of the caller's count that it starts with, or -1 if it is received.
    std::vector<int> arguments;
};

inline constexpr int input_buffer = 0;
inline constexpr int output_buffer = 1;

/// How a buffer is divided into blocks.
struct Partition {
    enum class Kind : std::uint8_t {
        even,     ///< `blocks` nearly equal blocks of the message, or of the segment in a segmented stage
        counted,  ///< lengths from the counts buffer `counts`, one entry per block
    };
    Kind kind = Kind::even;
    int blocks = 1;
    int counts = -1;

    friend bool operator==(const Partition&, const Partition&) = default;
};

/// Blocks of a buffer, in the order in which they travel. Of a counts buffer, blocks are entries and
/// `partition` is -1.
struct Slice {
    int buffer = -1;
    int partition = -1;
    int first = 0;  ///< blocks first .. first + count - 1 ...
    int count = 1;
    int list = -1;  ///< ... or, if not -1, those of `Schedule::lists[list]`
};

enum class OpKind : std::uint8_t {
    send,           ///< source to peer
    recv,           ///< target from peer
    reduce,         ///< target = source (+) target, source being the left operand, as MPI_Reduce_local does
    copy,           ///< target = source
    library_bcast,  ///< the MPI library's own broadcast among the ranks of this rank's group at a level
};

/// This operation's instance for segment s waits for instance s - lag of `op` (and all before it). Where only
/// one of the two is segmented, all instances of `op` are waited for.
struct Dependency {
    int op = 0;
    int lag = 0;
};

struct Op {
    OpKind kind = OpKind::copy;
    int peer = -1;   ///< rank in the communicator, of a library_bcast that of its root
    int level = -1;  ///< library_bcast: level of the topology whose groups take part
    Slice source;
    Slice target;
    int stage = 0;
    std::vector<Dependency> after;
};

struct Stage {
    bool segmented = false;
};

/// What one rank does. Built by `Builder`, never by hand.
struct Schedule {
    int size = 1;  ///< ranks in the communicator
    int rank = 0;
    std::vector<Buffer> buffers;
    std::vector<Partition> partitions;
    std::vector<std::vector<int>> lists;
    std::vector<Op> ops;
    std::vector<Stage> stages;
};

}  // namespace isochrone::core::schedule
