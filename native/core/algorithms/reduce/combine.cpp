// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/reduce/combine.hpp"

#include <algorithm>

namespace isochrone::core::algorithms::reduce {

namespace {

/// Messages that may wait to be combined. One more buffer than that holds the last partial result.
constexpr std::size_t most_waiting = 8;

}  // namespace

// A reduction leaves its result where the right operand was. So what is received last, into the result's
// buffer, is combined last, and nothing is copied:
//
//   value ⊕ a → a,   a ⊕ b → b,   b ⊕ result → result
void combine(schedule::Builder& builder, const Group& group, Data& data, std::vector<int> members) {
    if (members.empty()) return;
    std::sort(members.begin(), members.end());
    const int result = data.writable(builder);
    const bool result_is_taken = data.value == result;
    std::vector<int> temporaries;
    std::vector<int> received;
    for (std::size_t i = 0; i < members.size(); ++i) {
        if (i + 1 == members.size() && !result_is_taken) {
            received.push_back(result);
            continue;
        }
        if (temporaries.size() <= most_waiting) temporaries.push_back(builder.scratch());
        received.push_back(temporaries[i % (most_waiting + 1)]);
    }
    const auto add = [&](std::size_t i) {
        const auto operand = builder.whole(received[i]);
        if (result_is_taken && !data.in_order) {
            builder.reduce(operand, builder.whole(result));
        } else {
            builder.reduce(builder.whole(data.value), operand);
            data.value = received[i];
        }
    };
    for (std::size_t i = 0; i < members.size(); ++i) {
        builder.recv(group.rank_at(members[i]), builder.whole(received[i]));
        if (i + 1 >= most_waiting) add(i + 1 - most_waiting);
    }
    for (std::size_t i = members.size() - std::min(members.size(), most_waiting - 1); i < members.size(); ++i)
        add(i);
    data.settle(builder);
}

void Exchange::with(int member, bool sends) {
    // Not where the value is: that is still being sent.
    int& temporary = temporary_[temporary_[0] >= 0 && temporary_[0] == data_.value ? 1 : 0];
    if (temporary < 0) temporary = builder_.scratch();
    const bool theirs_is_left = member < group_.relative();
    const bool is_read_only =
        data_.value != data_.result && data_.value != temporary_[0] && data_.value != temporary_[1];
    if (theirs_is_left && is_read_only) data_.settle(builder_);
    const auto own = builder_.whole(data_.value);
    const auto theirs = builder_.whole(temporary);
    if (sends) builder_.send(group_.rank_at(member), own);
    builder_.recv(group_.rank_at(member), theirs);
    if (theirs_is_left) {
        builder_.reduce(theirs, own);
    } else {
        builder_.reduce(own, theirs);
        data_.value = temporary;
    }
}

}  // namespace isochrone::core::algorithms::reduce
