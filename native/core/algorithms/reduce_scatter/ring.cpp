// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/reduce_scatter/ring.hpp"

namespace isochrone::core::algorithms::reduce_scatter {

// Each member's blocks go once around the ring, every member adds its part, and they end at home.
void ring(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    const int size = group.size();
    if (size == 1) return;
    const int me = group.relative();
    const int result = data.writable(builder);
    const auto of_member = [&](int buffer, int member) {
        return data.blocks.in(buffer, builder, group.part_at(((member % size) + size) % size));
    };
    // Where the result's place is still free, blocks are received there and the own ones added to them.
    const bool is_free = data.value != result;
    const int target = is_free ? result : builder.scratch();
    for (int step = 1; step < size; ++step) {
        builder.send(group.rank_at(me + 1), of_member(step == 1 ? data.value : result, me - step));
        builder.recv(group.rank_at(me + size - 1), of_member(target, me - step - 1));
        builder.reduce(of_member(is_free ? data.value : target, me - step - 1),
                       of_member(result, me - step - 1));
    }
    data.value = result;
}

}  // namespace isochrone::core::algorithms::reduce_scatter
