// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/scan/chain.hpp"

namespace isochrone::core::algorithms::scan {

void chain(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    const bool is_first = group.me == 0;
    const bool is_last = group.me + 1 == group.size();
    if (data.with_own || !(is_first || is_last)) data.settle(builder);
    if (!is_first) {
        const auto before = builder.whole(data.before >= 0 ? data.before : builder.scratch());
        builder.recv(group.member(group.me - 1), before);
        if (data.with_own || !is_last) builder.reduce(before, builder.whole(data.value));
    }
    if (!is_last) builder.send(group.member(group.me + 1), builder.whole(data.value));
}

}  // namespace isochrone::core::algorithms::scan
