// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/barrier/double_ring.hpp"

namespace isochrone::core::algorithms::barrier {

// A token goes around the ring twice. When the first member has it back, all have begun; the second time it
// says so to the others.
void double_ring(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    const int size = group.size();
    const int me = group.relative();
    if (size > 1) {
        const int next = group.rank_at(me + 1);
        const int previous = group.rank_at(me + size - 1);
        const int token = builder.scratch();
        if (me > 0) {
            builder.recv(previous, builder.whole(token));
            builder.reduce(builder.whole(data.value), builder.whole(token));
            builder.send(next, builder.whole(token));
        } else {
            builder.send(next, builder.whole(data.value));
        }
        builder.recv(previous, builder.whole(token));
        if (me + 1 < size) builder.send(next, builder.whole(token));
        data.value = token;
    }
    data.settle(builder);
}

}  // namespace isochrone::core::algorithms::barrier
