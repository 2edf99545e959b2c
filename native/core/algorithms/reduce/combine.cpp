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

void Exchange::with(const std::vector<int>& others) {
    const auto is_temporary = [&](int buffer) {
        return std::find(temporaries_.begin(), temporaries_.end(), buffer) != temporaries_.end();
    };
    // The lowest value is only read, every other one makes room for what is combined so far.
    const bool is_read_only = data_.value != data_.result && !is_temporary(data_.value);
    if (others.front() < group_.relative() && is_read_only) data_.settle(builder_);
    std::vector<int> operands;
    for (const int temporary : temporaries_) {
        // Not where the value is: that is still being sent.
        if (temporary != data_.value && operands.size() < others.size()) operands.push_back(temporary);
    }
    while (operands.size() < others.size()) {
        temporaries_.push_back(builder_.scratch());
        operands.push_back(temporaries_.back());
    }
    for (std::size_t i = 0; i < others.size(); ++i) {
        const int other = group_.rank_at(others[i]);
        builder_.send(other, builder_.whole(data_.value));
        builder_.recv(other, builder_.whole(operands[i]));
    }
    const auto own = std::lower_bound(others.begin(), others.end(), group_.relative()) - others.begin();
    operands.insert(operands.begin() + own, data_.value);
    for (std::size_t i = 1; i < operands.size(); ++i)
        builder_.reduce(builder_.whole(operands[i - 1]), builder_.whole(operands[i]));
    data_.value = operands.back();
}

}  // namespace isochrone::core::algorithms::reduce
