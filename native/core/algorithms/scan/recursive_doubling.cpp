// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/scan/recursive_doubling.hpp"

#include <utility>

namespace isochrone::core::algorithms::scan {

// In round k members that are 2^k apart exchange what their runs of 2^k members had together; who is behind
// puts what it gets before its result.
void recursive_doubling(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    if (group.size() == 1) return;
    int run = builder.scratch();  // of what the members of this one's run had
    int other = builder.scratch();
    builder.copy(builder.whole(data.value), builder.whole(run));
    if (data.with_own) data.settle(builder);
    const auto result = builder.whole(data.before >= 0 ? data.before : data.value);
    bool has_result = data.before < 0;
    for (int distance = 1; distance < group.size(); distance *= 2) {
        const int peer = group.me ^ distance;
        if (peer >= group.size()) continue;
        const auto received = builder.whole(other);
        builder.send(group.member(peer), builder.whole(run));
        builder.recv(group.member(peer), received);
        if (peer > group.me) {
            builder.reduce(builder.whole(run), received);
            std::swap(run, other);
            continue;
        }
        builder.reduce(received, builder.whole(run));
        if (has_result) {
            builder.reduce(received, result);
        } else {
            builder.copy(received, result);
        }
        has_result = true;
    }
    if (data.with_own && data.before >= 0 && group.me > 0) builder.reduce(result, builder.whole(data.value));
}

}  // namespace isochrone::core::algorithms::scan
