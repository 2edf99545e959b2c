// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/allgather/ring.hpp"

namespace isochrone::core::algorithms::allgather {

// Each block goes once around.
void ring(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    const int size = group.size();
    const int me = group.relative();
    for (int step = 0; step < size - 1; ++step) {
        builder.send(group.rank_at(me + 1), data.blocks.of(builder, group.part_at(me + size - step)));
        builder.recv(group.rank_at(me + size - 1),
                     data.blocks.of(builder, group.part_at(me + size - step - 1)));
    }
}

}  // namespace isochrone::core::algorithms::allgather
