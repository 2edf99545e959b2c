// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/reduce_scatter/pairwise.hpp"

namespace isochrone::core::algorithms::reduce_scatter {

// Every member sends every other its blocks, and adds up what it gets for its own.
void pairwise(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    const int size = group.size();
    if (size == 1) return;
    const int me = group.relative();
    const int result = data.writable(builder);
    const int value = data.value;
    const auto own = group.part_at(me);
    if (value != result)
        builder.copy(data.blocks.in(value, builder, own), data.blocks.in(result, builder, own));
    // One is received while the other is added.
    const int temporary[] = {builder.scratch(), builder.scratch()};
    for (int step = 1; step < size; ++step) {
        const auto received = data.blocks.in(temporary[step % 2], builder, own);
        builder.send(group.rank_at(me + step), data.blocks.in(value, builder, group.part_at(me + step)));
        builder.recv(group.rank_at(me + size - step), received);
        builder.reduce(received, data.blocks.in(result, builder, own));
    }
    data.value = result;
}

}  // namespace isochrone::core::algorithms::reduce_scatter
