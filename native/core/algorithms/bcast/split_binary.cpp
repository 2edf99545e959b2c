// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/bcast/split_binary.hpp"

#include "algorithms/trees/tree.hpp"

namespace isochrone::core::algorithms::bcast {

// Below the root, the lower positions are a binary tree that carries the first half of the message, and the
// upper ones another of the same shape that carries the second. Then those at the same place exchange halves.
// Where the lower tree has one more, the root itself sends that one the second half.
//
//   6 positions:       0
//               first /  \ second      1 and 4 exchange halves, and so do 2 and 5;
//                    1    4            the root sends 3 the second half
//                   2 3  5
void split_binary(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    const int size = group.size();
    const int me = group.relative();
    const int lower = size / 2;
    const int upper = size - 1 - lower;
    const int partition = builder.even(2);
    if (me > 0) data.value = data.writable(builder);
    const auto half = [&](int which) { return builder.blocks(data.value, partition, which); };
    if (me == 0) {
        if (lower > 0) builder.send(group.rank_at(1), half(0));
        if (upper > 0) builder.send(group.rank_at(lower + 1), half(1));
        if (lower > upper) builder.send(group.rank_at(lower), half(1));
        return;
    }
    const bool is_upper = me > lower;
    const int own = is_upper ? 1 : 0;
    const int first = is_upper ? lower + 1 : 1;
    const trees::Node node = trees::binary(is_upper ? upper : lower, me - first, 0);
    builder.recv(group.rank_at(node.parent < 0 ? 0 : first + node.parent), half(own));
    for (const int child : node.children) builder.send(group.rank_at(first + child), half(own));
    if (me == lower && lower > upper) {
        builder.recv(group.rank_at(0), half(1));
        return;
    }
    const int partner = group.rank_at(is_upper ? me - lower : me + lower);
    builder.send(partner, half(own));
    builder.recv(partner, half(1 - own));
}

}  // namespace isochrone::core::algorithms::bcast
