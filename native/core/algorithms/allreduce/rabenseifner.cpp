// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/allreduce/rabenseifner.hpp"

#include "algorithms/allreduce/fold.hpp"

namespace isochrone::core::algorithms::allreduce {

// Reduce-scatter by recursive halving, then allgather by recursive doubling, on as many blocks as members:
//
//   member 0   [0 1 2 3]  keeps 0 1, gives 2 3 to member 2     ->  keeps 0, gives 1 to member 1     -> and
//   back
void rabenseifner(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    const Fold fold(group);
    fold.in(builder, group, data);
    const int me = fold.me();
    if (me >= 0) {
        const int partition = builder.even(fold.size());
        const int result = data.writable(builder);
        const auto blocks = [&](int buffer, int first, int count) {
            return builder.blocks(buffer, partition, first, count);
        };
        const auto peer = [&](int distance) { return group.rank_at(fold.member(me ^ distance)); };
        const int temporary = fold.size() > 1 ? builder.scratch() : -1;
        for (int half = fold.size() / 2; half > 0; half /= 2) {
            const int keep = me / half * half;
            const int give = keep ^ half;
            builder.send(peer(half), blocks(data.value, give, half));
            // What is received first may go where the result belongs: nothing is there yet.
            const bool is_free = data.value != result;
            const int target = is_free ? result : temporary;
            builder.recv(peer(half), blocks(target, keep, half));
            builder.reduce(is_free ? blocks(data.value, keep, half) : blocks(target, keep, half),
                           blocks(result, keep, half));
            data.value = result;
        }
        for (int half = 1; half < fold.size(); half *= 2) {
            const int have = me / half * half;
            builder.send(peer(half), blocks(result, have, half));
            builder.recv(peer(half), blocks(result, have ^ half, half));
        }
        data.settle(builder);
    }
    fold.out(builder, group, data);
}

}  // namespace isochrone::core::algorithms::allreduce
