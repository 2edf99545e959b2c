// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/allgather/bruck.hpp"

#include <algorithm>
#include <numeric>

namespace isochrone::core::algorithms::allgather {

// In round k each member has the blocks of the 2^k members from itself on, and gets those of the next 2^k:
//
//   5 members, member 0:   0   |  0 1   |  0 1 2 3   |  0 1 2 3 4
//                            from 1   from 2 3     from 4 the one that is missing
//
// Blocks are received where they belong, so nothing is turned around at the end.
void bruck(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    const int size = group.size();
    const int me = group.relative();
    const auto run = [&](int first, int length) {
        std::vector<int> members(static_cast<std::size_t>(length));
        std::iota(members.begin(), members.end(), first);
        return data.blocks.of(builder, group.parts_at(members));
    };
    for (int have = 1; have < size; have *= 2) {
        const int more = std::min(have, size - have);
        builder.send(group.rank_at(me + size - have), run(me, more));
        builder.recv(group.rank_at(me + have), run(me + have, more));
    }
}

}  // namespace isochrone::core::algorithms::allgather
