// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/reduce_scatter/recursive_halving.hpp"

#include "algorithms/reduce/fold.hpp"

namespace isochrone::core::algorithms::reduce_scatter {

// In each round the members of two halves exchange what belongs to the other half, and go on with their own.
// Where members are no power of two, some stand aside: their neighbour works for both.
void recursive_halving(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    const reduce::Fold fold(group);
    fold.in(builder, group, data);
    const int relative = group.relative();
    const int result = data.writable(builder);
    if (fold.me() < 0) {
        builder.recv(group.rank_at(relative - 1), data.blocks.in(result, builder, group.part_at(relative)));
        data.value = result;
        return;
    }
    const auto of_run = [&](int buffer, int first, int length) {
        return data.blocks.in(buffer, builder, group.parts_at(fold.stood_for(first, length)));
    };
    const int temporary = fold.size() > 1 ? builder.scratch() : -1;
    for (int half = fold.size() / 2; half > 0; half /= 2) {
        const int keep = fold.me() / half * half;
        const int peer = group.rank_at(fold.member(fold.me() ^ half));
        builder.send(peer, of_run(data.value, keep ^ half, half));
        // What is received first may go where the result belongs: nothing is there yet.
        const bool is_free = data.value != result;
        const int target = is_free ? result : temporary;
        builder.recv(peer, of_run(target, keep, half));
        builder.reduce(of_run(is_free ? data.value : target, keep, half), of_run(result, keep, half));
        data.value = result;
    }
    if (fold.is_paired()) {
        builder.send(group.rank_at(relative + 1),
                     data.blocks.in(data.value, builder, group.part_at(relative + 1)));
    }
}

}  // namespace isochrone::core::algorithms::reduce_scatter
