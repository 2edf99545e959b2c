// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/reduce/fold.hpp"

#include <numeric>

#include "algorithms/reduce/combine.hpp"

namespace isochrone::core::algorithms::reduce {

Fold::Fold(const Group& group, int radix) : relative_(group.relative()) {
    while (group.size() / size_ >= radix) size_ *= radix;
    size_ *= group.size() / size_;
    pairs_ = group.size() - size_;
}

int Fold::me() const {
    if (!is_paired()) return relative_ - pairs_;
    return relative_ % 2 == 0 ? relative_ / 2 : -1;
}

int Fold::member(int number) const { return number < pairs_ ? 2 * number : number + pairs_; }

std::vector<int> Fold::stood_for(int first, int numbers) const {
    // The second of a pair is between the first of it and the next that goes on.
    std::vector<int> members(static_cast<std::size_t>(member(first + numbers) - member(first)));
    std::iota(members.begin(), members.end(), member(first));
    return members;
}

void Fold::in(schedule::Builder& builder, const Group& group, Data& data) const {
    if (!is_paired()) return;
    if (me() < 0) {
        builder.send(group.rank_at(relative_ - 1), builder.whole(data.value));
    } else {
        combine(builder, group, data, {relative_ + 1});
    }
}

void Fold::out(schedule::Builder& builder, const Group& group, Data& data) const {
    if (!is_paired()) return;
    if (me() < 0) {
        data.value = data.writable(builder);
        builder.recv(group.rank_at(relative_ - 1), builder.whole(data.value));
    } else {
        builder.send(group.rank_at(relative_ + 1), builder.whole(data.value));
    }
}

}  // namespace isochrone::core::algorithms::reduce
