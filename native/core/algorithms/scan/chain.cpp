// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/scan/chain.hpp"

namespace isochrone::core::algorithms::scan {

void chain(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    const int me = group.relative();
    data.settle(builder);
    if (me > 0) {
        const int before = builder.scratch();
        builder.recv(group.rank_at(me - 1), builder.whole(before));
        builder.reduce(builder.whole(before), builder.whole(data.value));
    }
    if (me + 1 < group.size()) builder.send(group.rank_at(me + 1), builder.whole(data.value));
}

void exclusive_chain(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    const int me = group.relative();
    const bool is_last = me + 1 == group.size();
    if (me == 0) {
        if (!is_last) builder.send(group.rank_at(1), builder.whole(data.value));
        return;
    }
    const int up_to_me = builder.scratch();
    if (!is_last) builder.copy(builder.whole(data.value), builder.whole(up_to_me));
    data.value = data.writable(builder);
    builder.recv(group.rank_at(me - 1), builder.whole(data.value));
    if (is_last) return;
    builder.reduce(builder.whole(data.value), builder.whole(up_to_me));
    builder.send(group.rank_at(me + 1), builder.whole(up_to_me));
}

}  // namespace isochrone::core::algorithms::scan
