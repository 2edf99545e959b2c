// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/allreduce/rabenseifner.hpp"

#include "algorithms/reduce/halving.hpp"

namespace isochrone::core::algorithms::allreduce {

// Reduce-scatter by recursive halving, then allgather by recursive doubling.
void rabenseifner(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    const reduce::Fold fold(group);
    fold.in(builder, group, data);
    const int me = fold.me();
    if (me >= 0) {
        reduce::halving(builder, group, fold, data);
        data.settle(builder);
        const int partition = builder.even(fold.size());
        for (int half = 1; half < fold.size(); half *= 2) {
            const int peer = group.rank_at(fold.member(me ^ half));
            const int have = me / half * half;
            builder.send(peer, builder.blocks(data.value, partition, have, half));
            builder.recv(peer, builder.blocks(data.value, partition, have ^ half, half));
        }
    }
    fold.out(builder, group, data);
}

}  // namespace isochrone::core::algorithms::allreduce
