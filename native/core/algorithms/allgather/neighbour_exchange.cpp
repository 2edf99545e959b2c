// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/allgather/neighbour_exchange.hpp"

#include <array>

#include "algorithms/allgather/ring.hpp"

namespace isochrone::core::algorithms::allgather {

// Neighbours in pairs exchange their blocks; then each pair passes on the two blocks that it got last, by
// turns to the left and to the right. Half the rounds of a ring. For an even number of members; a ring
// otherwise.
//
//   round 0    0-1  2-3  4-5         own blocks
//   round 1    1-2  3-4  5-0         the two of one's pair
//   round 2    0-1  2-3  4-5         the two received in round 1
void neighbour_exchange(schedule::Builder& builder, const Group& group, Data& data, int parameter) {
    const int size = group.size();
    if (size % 2 != 0) return ring(builder, group, data, parameter);
    const int me = group.relative();
    const auto pair_of = [&](int first) {
        return data.blocks.of(builder, group.parts_at(std::array{first, first + 1}));
    };
    const bool is_even = me % 2 == 0;
    const int first_peer = is_even ? me + 1 : me - 1;
    builder.send(group.rank_at(first_peer), data.blocks.of(builder, group.part_at(me)));
    builder.recv(group.rank_at(first_peer), data.blocks.of(builder, group.part_at(first_peer)));
    int latest = is_even ? me : me - 1;  // the even member of the pair whose blocks came last
    for (int round = 1; round < size / 2; ++round) {
        // Even members turn to the left in odd rounds, and their partners to the right.
        const bool to_left = is_even == (round % 2 == 1);
        const int peer = (me + (to_left ? size - 1 : 1)) % size;
        builder.send(group.rank_at(peer), pair_of(latest));
        // What the peer got last is as far on its side of it as ours is on our side.
        const int ahead = 2 * (round / 2);
        const int next = is_even ? (round % 2 == 1 ? me - 2 - ahead : me + ahead)
                                 : (round % 2 == 1 ? me + 1 + ahead : me - 1 - ahead);
        latest = ((next % size) + size) % size;
        builder.recv(group.rank_at(peer), pair_of(latest));
    }
}

}  // namespace isochrone::core::algorithms::allgather
