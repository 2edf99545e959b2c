// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/scan/linear.hpp"

namespace isochrone::core::algorithms::scan {

// Each member sends to all behind it, the next one first, and combines what it gets from the nearest back to
// the first: in the order of positions, though from the right.
void linear(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    const bool is_wanted = data.with_own || data.before >= 0;
    const int own = data.value;
    for (int other = group.me + 1; other < group.size(); ++other)
        builder.send(group.member(other), builder.whole(own));
    if (data.with_own) data.settle(builder);
    if (!is_wanted) return;
    int result = data.before >= 0 ? -1 : data.value;
    for (int other = group.me - 1; other >= 0; --other) {
        const int received = result < 0 ? data.before : builder.scratch();
        builder.recv(group.member(other), builder.whole(received));
        if (result >= 0) builder.reduce(builder.whole(received), builder.whole(result));
        if (result < 0) result = received;
    }
    if (data.with_own && data.before >= 0 && group.me > 0)
        builder.reduce(builder.whole(data.before), builder.whole(data.value));
}

}  // namespace isochrone::core::algorithms::scan
