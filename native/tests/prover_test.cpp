// SPDX-License-Identifier: BSD-3-Clause
//
// The prover must find what is wrong: a proof that cannot fail proves nothing.
#include <gtest/gtest.h>

#include "collectives/collective.hpp"
#include "prove/prove.hpp"
#include "schedule/builder.hpp"

namespace isochrone::tests {
namespace {

using namespace core;
using prove::Claim;
using schedule::Builder;
using schedule::output_buffer;

std::string failure_of(const std::vector<schedule::Schedule>& schedules, const std::vector<Claim>& claims) {
    return prove::prove(schedules, claims, {.groups = {}}).value_or("");
}

template <class Write>
schedule::Schedule rank_of_two(int rank, Write&& write) {
    Builder builder(2, rank);
    write(builder);
    return builder.finish();
}

TEST(TheProver, AcceptsARightBroadcast) {
    const auto root = rank_of_two(0, [](Builder& b) { b.send(1, b.whole(output_buffer)); });
    const auto leaf = rank_of_two(1, [](Builder& b) { b.recv(0, b.whole(output_buffer)); });
    EXPECT_EQ(
        failure_of({root, leaf}, collectives::claims(collectives::named("bcast"), {.size = 2, .total = 5})),
        "");
}

TEST(TheProver, FindsAByteThatNeverArrives) {
    const auto root = rank_of_two(0, [](Builder& b) { b.send(1, b.blocks(output_buffer, b.even(2), 0)); });
    const auto leaf = rank_of_two(1, [](Builder& b) { b.recv(0, b.blocks(output_buffer, b.even(2), 0)); });
    EXPECT_NE(
        failure_of({root, leaf}, collectives::claims(collectives::named("bcast"), {.size = 2, .total = 5}))
            .find("holds nothing"),
        std::string::npos);
}

TEST(TheProver, FindsALengthThatDiffersAtTheTwoEnds) {
    const auto root = rank_of_two(0, [](Builder& b) { b.send(1, b.whole(output_buffer)); });
    const auto leaf = rank_of_two(1, [](Builder& b) { b.recv(0, b.blocks(output_buffer, b.even(2), 0)); });
    EXPECT_NE(
        failure_of({root, leaf}, collectives::claims(collectives::named("bcast"), {.size = 2, .total = 5}))
            .find("has length"),
        std::string::npos);
}

TEST(TheProver, FindsADeadlock) {
    const auto waits = [](int peer) {
        return [peer](Builder& b) {
            b.recv(peer, b.whole(output_buffer));
            b.send(peer, b.whole(output_buffer));
        };
    };
    EXPECT_NE(failure_of({rank_of_two(0, waits(1)), rank_of_two(1, waits(0))},
                         collectives::claims(collectives::named("bcast"), {.size = 2, .total = 5}))
                  .find("deadlock"),
              std::string::npos);
}

TEST(TheProver, FindsAMessageThatNobodyReceives) {
    const auto root = rank_of_two(0, [](Builder& b) { b.send(1, b.whole(output_buffer)); });
    const auto leaf = rank_of_two(1, [](Builder&) {});
    EXPECT_NE(
        failure_of({root, leaf}, collectives::claims(collectives::named("bcast"), {.size = 2, .total = 5})),
        "");
}

TEST(TheProver, FindsAWrongOrderOfOperands) {
    const auto first = rank_of_two(0, [](Builder& b) {
        b.copy(b.whole(schedule::input_buffer), b.whole(output_buffer));
        const auto other = b.scratch();
        b.recv(1, b.whole(other));
        b.reduce(b.whole(other), b.whole(output_buffer));
        b.send(1, b.whole(output_buffer));
    });
    const auto second = rank_of_two(1, [](Builder& b) {
        b.send(0, b.whole(schedule::input_buffer));
        b.recv(0, b.whole(output_buffer));
    });
    const auto claims = collectives::claims(collectives::named("allreduce"), {.size = 2, .total = 3});
    EXPECT_FALSE(prove::prove({first, second}, claims, {.commutative = true, .groups = {}}));
    EXPECT_TRUE(prove::prove({first, second}, claims, {.commutative = false, .groups = {}}));
}

TEST(TheProver, FindsAResultThatRanksCombineInDifferentWays) {
    // All send what they have to all.
    const auto adds = [](int rank, bool is_left_first) {
        Builder b(3, rank);
        std::vector<int> operands(3, schedule::input_buffer);
        for (int other = 0; other < 3; ++other) {
            if (other == rank) continue;
            b.send(other, b.whole(schedule::input_buffer));
            operands[static_cast<std::size_t>(other)] = b.scratch();
            b.recv(other, b.whole(operands[static_cast<std::size_t>(other)]));
        }
        b.copy(b.whole(operands[2]), b.whole(output_buffer));
        if (is_left_first) {  // (0 + 1) + 2
            const int sum = b.scratch();
            b.copy(b.whole(operands[1]), b.whole(sum));
            b.reduce(b.whole(operands[0]), b.whole(sum));
            b.reduce(b.whole(sum), b.whole(output_buffer));
        } else {  // 0 + (1 + 2)
            b.reduce(b.whole(operands[1]), b.whole(output_buffer));
            b.reduce(b.whole(operands[0]), b.whole(output_buffer));
        }
        return b.finish();
    };
    const auto claims = collectives::claims(collectives::named("allreduce"), {.size = 3, .total = 2});
    EXPECT_EQ(failure_of({adds(0, true), adds(1, true), adds(2, true)}, claims), "");
    EXPECT_EQ(failure_of({adds(0, true), adds(1, true), adds(2, false)}, claims),
              "rank 2, unit 0 is combined in another way than rank 0, unit 0");
}

TEST(TheProver, FindsASliceThatIsSentWhileItIsWritten) {
    auto root = rank_of_two(0, [](Builder& b) {
        b.send(1, b.whole(output_buffer));
        b.recv(1, b.whole(output_buffer));
    });
    for (auto& op : root.ops) op.after.clear();
    const auto leaf = rank_of_two(1, [](Builder& b) {
        b.recv(0, b.whole(output_buffer));
        b.send(0, b.whole(output_buffer));
    });
    EXPECT_NE(
        failure_of({root, leaf}, collectives::claims(collectives::named("bcast"), {.size = 2, .total = 5}))
            .find("collides"),
        std::string::npos);
}

}  // namespace
}  // namespace isochrone::tests
