// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/allreduce/fold.hpp"

#include "algorithms/reduce/combine.hpp"

namespace isochrone::core::algorithms::allreduce {

Fold::Fold(const Group& group) : relative_(group.relative()) {
    while (size_ * 2 <= group.size()) size_ *= 2;
    pairs_ = group.size() - size_;
}

int Fold::me() const {
    if (!is_paired()) return relative_ - pairs_;
    return relative_ % 2 == 1 ? relative_ / 2 : -1;
}

int Fold::member(int number) const { return number < pairs_ ? 2 * number + 1 : number + pairs_; }

std::vector<int> Fold::stood_for(int number) const {
    if (number < pairs_) return {2 * number, 2 * number + 1};
    return {number + pairs_};
}

void Fold::in(schedule::Builder& builder, const Group& group, Data& data) const {
    if (!is_paired()) return;
    if (me() < 0) {
        builder.send(group.rank_at(relative_ + 1), builder.whole(data.value));
    } else {
        reduce::Exchange(builder, group, data).with(relative_ - 1, false);
    }
}

void Fold::out(schedule::Builder& builder, const Group& group, Data& data) const {
    if (!is_paired()) return;
    if (me() < 0) {
        data.value = data.writable(builder);
        builder.recv(group.rank_at(relative_ + 1), builder.whole(data.value));
    } else {
        builder.send(group.rank_at(relative_ - 1), builder.whole(data.value));
    }
}

}  // namespace isochrone::core::algorithms::allreduce
