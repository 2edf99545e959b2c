// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/reduce/rabenseifner.hpp"

#include "algorithms/reduce/halving.hpp"

namespace isochrone::core::algorithms::reduce {

// Reduce-scatter by recursive halving, then the blocks are gathered along a binomial tree.
void rabenseifner(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    const Fold fold(group);
    fold.in(builder, group, data);
    const int me = fold.me();
    if (me < 0) return;
    halving(builder, group, fold, data);
    const int partition = builder.even(fold.size());
    for (int have = 1; have < fold.size(); have *= 2) {
        const int peer = group.rank_at(fold.member(me ^ have));
        if ((me & have) != 0) {
            builder.send(peer, builder.blocks(data.value, partition, me, have));
            return;
        }
        builder.recv(peer, builder.blocks(data.value, partition, me + have, have));
    }
}

}  // namespace isochrone::core::algorithms::reduce
