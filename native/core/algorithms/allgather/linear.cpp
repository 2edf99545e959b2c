// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/allgather/linear.hpp"

namespace isochrone::core::algorithms::allgather {

// Each begins with its neighbour, so that no member is everybody's first.
void linear(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    const int size = group.size();
    const int me = group.relative();
    for (int step = 1; step < size; ++step) {
        builder.send(group.rank_at(me + step), data.blocks.of(builder, group.part_at(me)));
        builder.recv(group.rank_at(me + size - step),
                     data.blocks.of(builder, group.part_at(me + size - step)));
    }
}

}  // namespace isochrone::core::algorithms::allgather
