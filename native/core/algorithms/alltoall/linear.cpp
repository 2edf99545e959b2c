// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/alltoall/linear.hpp"

#include <algorithm>

namespace isochrone::core::algorithms::alltoall {

// In round k each member sends to the one k after it, and receives from the one k before it.
void linear(schedule::Builder& builder, const Group& group, Data& data, int window) {
    const int size = group.size();
    const int me = group.relative();
    const auto own = group.part_at(me);
    std::vector<int> first_of_round{0, builder.count()};  // operations, by round
    // A recipe may ask for more than others get.
    builder.bound(std::max(window, schedule::most_under_way));
    for (int round = 1; round < size; ++round) {
        if (round > window) {
            const auto before = static_cast<std::size_t>(round - window);
            builder.after(first_of_round[before], first_of_round[before + 1]);
        }
        const int to = me + round;
        const int from = me + size - round;
        builder.send(group.rank_at(to), data.leaving.of(builder, own, group.part_at(to)));
        builder.recv(group.rank_at(from), data.entering.of(builder, group.part_at(from), own));
        first_of_round.push_back(builder.count());
    }
    builder.after(0, 0);
    builder.bound(schedule::most_under_way);
}

void pairwise(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    linear(builder, group, data, 1);
}

}  // namespace isochrone::core::algorithms::alltoall
