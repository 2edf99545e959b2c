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
