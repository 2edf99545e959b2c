// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/barrier/dissemination.hpp"

namespace isochrone::core::algorithms::barrier {

// In round i each member tells the k - 1 that are one, two, ... times k^i after it that all it has heard of
// have begun: then each has heard of the k^(i+1) - 1 before it.
void dissemination(schedule::Builder& builder, const Group& group, Data& data, int radix) {
    const int size = group.size();
    const int me = group.relative();
    for (long run = 1; run < size; run *= radix) {
        std::vector<int> heard;
        for (long distance = run; distance < size && distance < run * radix; distance += run) {
            heard.push_back(builder.scratch());
            builder.send(group.rank_at(static_cast<int>(me + distance)), builder.whole(data.value));
            builder.recv(group.rank_at(static_cast<int>(me + size - distance)), builder.whole(heard.back()));
        }
        for (const int other : heard) {
            builder.reduce(builder.whole(data.value), builder.whole(other));
            data.value = other;
        }
    }
    data.settle(builder);
}

}  // namespace isochrone::core::algorithms::barrier
