// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/allgather/sparbit.hpp"

#include <bit>

namespace isochrone::core::algorithms::allgather {

// Each block goes along a binomial tree of its own, far members first:
//
//   6 members, block 0:   0 > 4   |   0 > 2   |   0 > 1   2 > 3   4 > 5
//
// A round moves the blocks of all, about twice as many as the round before and half as far.
void sparbit(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    const int size = group.size();
    const int me = group.relative();
    // The blocks that a member sends: those that came from 0, 2, 4, ... times `distance` before it.
    const auto stripe = [&](int member, int distance) {
        std::vector<int> members;
        for (int travelled = 0; travelled + distance < size; travelled += 2 * distance) {
            members.push_back(member + size - travelled);
        }
        return data.blocks.of(builder, group.parts_at(members));
    };
    const auto rounded = std::bit_ceil(static_cast<unsigned>(size));
    for (int distance = static_cast<int>(rounded / 2); distance > 0; distance /= 2) {
        builder.send(group.rank_at(me + distance), stripe(me, distance));
        builder.recv(group.rank_at(me + size - distance), stripe(me + size - distance, distance));
    }
}

}  // namespace isochrone::core::algorithms::allgather
