// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/bcast/scatter_rd_allgather.hpp"

#include <algorithm>

#include "algorithms/trees/tree.hpp"

namespace isochrone::core::algorithms::bcast {
namespace {

/// How a member works on the blocks of the message, of which there are as many as members.
class Blocks {
  public:
    Blocks(schedule::Builder& builder, const Group& group, int buffer)
        : builder_(builder), group_(group), buffer_(buffer), partition_(builder.even(group.size())) {}

    void send(int member, int first, int count) {
        builder_.send(group_.rank_at(member), slice(first, count));
    }
    void recv(int member, int first, int count) {
        builder_.recv(group_.rank_at(member), slice(first, count));
    }

  private:
    [[nodiscard]] schedule::Slice slice(int first, int count) const {
        return builder_.blocks(buffer_, partition_, first, count);
    }
    schedule::Builder& builder_;
    const Group& group_;
    int buffer_;
    int partition_;
};

/// Along the binomial tree each position receives the blocks of its subtree, as many as its lowest set bit.
void scatter(Blocks& blocks, int size, int me) {
    const auto below = [&](int position) { return std::min(position & -position, size - position); };
    const trees::Node node = trees::binomial(size, me, 0);
    if (node.parent >= 0) blocks.recv(node.parent, me, below(me));
    for (const int child : node.children) blocks.send(child, child, below(child));
}

/// Two neighbouring runs of members have all blocks of their own run. Afterwards all have those of both. The
/// first of the lower run has the upper one's from the scatter.
///
///   lower run 0 1 2 3, upper run 4 5:   0 -> 4   1 <-> 5   then 0 -> 2   1 -> 3 with blocks 4 5
void join(Blocks& blocks, int me, int lower, int length, int upper_length) {
    const int upper = lower + length;
    const int offset = me < upper ? me - lower : me - upper;
    if (me >= upper) {
        if (offset > 0) blocks.send(lower + offset, upper, upper_length);
        blocks.recv(lower + offset, lower, length);
        return;
    }
    if (offset < upper_length) {
        blocks.send(upper + offset, lower, length);
        if (offset > 0) blocks.recv(upper + offset, upper, upper_length);
    }
    // Where the upper run is shorter, those without a partner hear of it from those who had one.
    for (int informed = upper_length; informed < length; informed *= 2) {
        if (offset < informed && offset + informed < length) blocks.send(me + informed, upper, upper_length);
        if (offset >= informed && offset < 2 * informed) blocks.recv(me - informed, upper, upper_length);
    }
}

}  // namespace

void scatter_rd_allgather(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    const int size = group.size();
    const int me = group.relative();
    if (size == 1) return;
    if (me > 0) data.value = data.writable(builder);
    Blocks blocks(builder, group, data.value);
    scatter(blocks, size, me);
    for (int length = 1; length < size; length *= 2) {
        const int lower = me / (2 * length) * (2 * length);
        const int upper_length = std::min(length, size - lower - length);
        if (upper_length > 0) join(blocks, me, lower, length, upper_length);
    }
}

}  // namespace isochrone::core::algorithms::bcast
