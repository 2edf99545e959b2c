// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/barrier/dissemination.hpp"

namespace isochrone::core::algorithms::barrier {

// In round k each member tells the one 2^k after it that all it has heard of have begun: then each has heard
// of the 2^(k+1) - 1 before it.
void dissemination(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    const int size = group.size();
    const int me = group.relative();
    for (int distance = 1; distance < size; distance *= 2) {
        const int heard = builder.scratch();
        builder.send(group.rank_at(me + distance), builder.whole(data.value));
        builder.recv(group.rank_at(me + size - distance), builder.whole(heard));
        builder.reduce(builder.whole(data.value), builder.whole(heard));
        data.value = heard;
    }
    data.settle(builder);
}

}  // namespace isochrone::core::algorithms::barrier
