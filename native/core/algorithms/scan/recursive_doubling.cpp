// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/scan/recursive_doubling.hpp"

#include <utility>

namespace isochrone::core::algorithms::scan {

namespace {

// In round k members that are 2^k apart exchange what their runs of 2^k members had together; who is behind
// puts what it gets before its result.
void append(schedule::Builder& builder, const Group& group, Data& data, bool has_own) {
    const int size = group.size();
    const int me = group.relative();
    if (size == 1) {
        if (has_own) data.settle(builder);
        return;
    }
    int run = builder.scratch();  // of what the members of this one's run had
    int other = builder.scratch();
    builder.copy(builder.whole(data.value), builder.whole(run));
    if (has_own) data.settle(builder);
    const int result = data.writable(builder);
    bool has_result = has_own;
    for (int distance = 1; distance < size; distance *= 2) {
        const int peer = me ^ distance;
        if (peer >= size) continue;
        const auto received = builder.whole(other);
        builder.send(group.rank_at(peer), builder.whole(run));
        builder.recv(group.rank_at(peer), received);
        if (peer > me) {
            builder.reduce(builder.whole(run), received);
            std::swap(run, other);
            continue;
        }
        builder.reduce(received, builder.whole(run));
        if (has_result) {
            builder.reduce(received, builder.whole(result));
        } else {
            builder.copy(received, builder.whole(result));
        }
        has_result = true;
    }
    data.value = result;
}

}  // namespace

void recursive_doubling(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    append(builder, group, data, true);
}

void exclusive_recursive_doubling(schedule::Builder& builder, const Group& group, Data& data,
                                  int /*parameter*/) {
    append(builder, group, data, false);
}

}  // namespace isochrone::core::algorithms::scan
