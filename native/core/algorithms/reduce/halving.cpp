// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/reduce/halving.hpp"

namespace isochrone::core::algorithms::reduce {

//   member 0   [0 1 2 3]  keeps 0 1, gives 2 3 to member 2     ->  keeps 0, gives 1 to member 1
void halving(schedule::Builder& builder, const Group& group, const Fold& fold, Data& data) {
    if (fold.size() == 1) return;
    const int me = fold.me();
    const int partition = builder.even(fold.size());
    const int result = data.writable(builder);
    const int temporary = builder.scratch();
    const auto blocks = [&](int buffer, int first, int count) {
        return builder.blocks(buffer, partition, first, count);
    };
    for (int half = fold.size() / 2; half > 0; half /= 2) {
        const int peer = group.rank_at(fold.member(me ^ half));
        const int keep = me / half * half;
        const int give = keep ^ half;
        builder.send(peer, blocks(data.value, give, half));
        // What is received first may go where the result belongs: nothing is there yet.
        const bool is_free = data.value != result;
        const int target = is_free ? result : temporary;
        builder.recv(peer, blocks(target, keep, half));
        builder.reduce(is_free ? blocks(data.value, keep, half) : blocks(target, keep, half),
                       blocks(result, keep, half));
        data.value = result;
    }
}

}  // namespace isochrone::core::algorithms::reduce
