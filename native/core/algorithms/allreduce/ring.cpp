// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/allreduce/ring.hpp"

namespace isochrone::core::algorithms::allreduce {

// Each block goes once around the ring, and every member adds its part; then each finished block goes around
// once more.
void ring(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    const int size = group.size();
    const int me = group.relative();
    const int result = data.writable(builder);
    if (size > 1) {
        const int partition = builder.even(size);
        const auto block = [&](int buffer, int number) {
            return builder.blocks(buffer, partition, ((number % size) + size) % size, 1);
        };
        const int next = group.rank_at(me + 1);
        const int previous = group.rank_at(me + size - 1);
        // Where the result's place is still free, a block is received there and the own one added to it.
        const bool is_free = data.value != result;
        const int target = is_free ? result : builder.scratch();
        for (int step = 0; step < size - 1; ++step) {
            builder.send(next, block(step == 0 ? data.value : result, me - step));
            builder.recv(previous, block(target, me - step - 1));
            builder.reduce(block(is_free ? data.value : target, me - step - 1), block(result, me - step - 1));
        }
        for (int step = 0; step < size - 1; ++step) {
            builder.send(next, block(result, me + 1 - step));
            builder.recv(previous, block(result, me - step));
        }
        data.value = result;
    }
    data.settle(builder);
}

}  // namespace isochrone::core::algorithms::allreduce
