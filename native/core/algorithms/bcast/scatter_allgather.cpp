// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/bcast/scatter_allgather.hpp"

#include <algorithm>

#include "algorithms/trees/tree.hpp"

namespace isochrone::core::algorithms::bcast {

// Block i belongs to the position that is i after the root. Along the binomial tree, a position p whose
// lowest set bit is worth b receives the blocks p .. p+b-1 of its whole subtree at once. Then each block goes
// once around the ring; a position that has received a block in the scatter is not sent it again.
void scatter_allgather(schedule::Builder& builder, const Group& group, Data& all, int /*parameter*/) {
    const int size = group.size();
    if (size == 1) return;
    const int me = group.relative();
    const int partition = builder.even(size);
    if (me > 0) all.value = all.writable(builder);
    const auto subtree = [&](int position) {  // number of blocks scattered to it
        return position == 0 ? size : std::min(position & -position, size - position);
    };
    const auto data = [&](int first, int count) {
        return builder.blocks(all.value, partition, first, count);
    };
    const trees::Node node = trees::binomial(size, me, 0);
    if (node.parent >= 0) builder.recv(group.rank_at(node.parent), data(me, subtree(me)));
    for (const int child : node.children) builder.send(group.rank_at(child), data(child, subtree(child)));

    const auto has = [&](int position, int block) {
        return block >= position && block < position + subtree(position);
    };
    const int next = (me + 1) % size;
    const int previous = (me + size - 1) % size;
    for (int step = 0; step < size - 1; ++step) {
        const int outgoing = (me - step + size) % size;
        const int incoming = (me - step - 1 + size) % size;
        if (!has(next, outgoing)) builder.send(group.rank_at(next), data(outgoing, 1));
        if (!has(me, incoming)) builder.recv(group.rank_at(previous), data(incoming, 1));
    }
}

}  // namespace isochrone::core::algorithms::bcast
