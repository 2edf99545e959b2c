// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/allgather/recursive_doubling.hpp"

#include "algorithms/reduce/fold.hpp"

namespace isochrone::core::algorithms::allgather {

// In round k members that are 2^k apart exchange what they have. Where members are no power of two, some
// stand aside: their neighbour takes their blocks first, and gives them all at the end.
void recursive_doubling(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    const reduce::Fold fold(group);
    const auto of_run = [&](int first, int length) {
        return data.blocks.of(builder, group.parts_at(fold.stood_for(first, length)));
    };
    const int relative = group.relative();
    if (fold.me() < 0) {
        const int neighbour = group.rank_at(relative - 1);
        builder.send(neighbour, data.blocks.of(builder, group.part_at(relative)));
        builder.recv(neighbour, data.blocks.of(builder, group.all()));
        return;
    }
    if (fold.is_paired()) {
        builder.recv(group.rank_at(relative + 1), data.blocks.of(builder, group.part_at(relative + 1)));
    }
    for (int distance = 1; distance < fold.size(); distance *= 2) {
        const int have = fold.me() / distance * distance;
        const int peer = group.rank_at(fold.member(fold.me() ^ distance));
        builder.send(peer, of_run(have, distance));
        builder.recv(peer, of_run(have ^ distance, distance));
    }
    if (fold.is_paired()) builder.send(group.rank_at(relative + 1), data.blocks.of(builder, group.all()));
}

}  // namespace isochrone::core::algorithms::allgather
