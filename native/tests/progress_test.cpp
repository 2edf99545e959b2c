// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/progress.hpp"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "schedule/builder.hpp"

namespace isochrone::tests {
namespace {

using namespace core;
using schedule::Builder;
using schedule::Instance;
using schedule::output_buffer;
using schedule::Progress;

using Started = std::vector<std::pair<int, int>>;  // (operation, segment)

Started take(Progress& progress) {
    std::vector<Instance> ready;
    progress.take_ready(ready);
    Started result;
    for (const Instance instance : ready) result.emplace_back(instance.op, instance.segment);
    return result;
}

template <class Write>
schedule::Schedule segmented(Write&& write, int slots = 4) {
    Builder builder(4, 0);
    builder.stage(true, slots);
    write(builder);
    return builder.finish();
}

TEST(OperationsTowardsOnePeer, StartBySegmentAndThenInListOrder) {
    const auto schedule = segmented([](Builder& builder) {
        const int halves = builder.even(2);
        builder.send(1, builder.blocks(output_buffer, halves, 0));
        builder.send(1, builder.blocks(output_buffer, halves, 1));
    });
    Progress progress(schedule, 3, 64);
    EXPECT_EQ(take(progress), (Started{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}}));
}

TEST(OperationsTowardsOnePeer, KeepTheirOrderWhereTheFirstMustWait) {
    Builder builder(4, 0);
    const int halves = builder.even(2);
    builder.recv(2, builder.blocks(output_buffer, halves, 0));  // 0
    builder.send(1, builder.blocks(output_buffer, halves, 0));  // 1 waits for 0
    builder.send(1, builder.blocks(output_buffer, halves, 1));  // 2 waits for nothing but its turn
    builder.send(3, builder.blocks(output_buffer, halves, 1));  // 3 is of another queue
    const auto schedule = builder.finish();
    Progress progress(schedule, 1, 4);
    EXPECT_EQ(take(progress), (Started{{0, 0}, {3, 0}}));
    progress.complete({0, 0});
    EXPECT_EQ(take(progress), (Started{{1, 0}, {2, 0}}));
}

TEST(TheWindow, BoundsWhatIsUnderWayTowardsOnePeer) {
    const auto schedule = segmented([](Builder& builder) {
        builder.send(1, builder.whole(output_buffer));
        builder.send(2, builder.whole(output_buffer));
    });
    Progress progress(schedule, 10, 2);
    EXPECT_EQ(take(progress), (Started{{0, 0}, {1, 0}, {0, 1}, {1, 1}}));
    progress.complete({0, 1});
    EXPECT_EQ(take(progress), (Started{{0, 2}}));
    EXPECT_EQ(take(progress), Started{});
    progress.complete({1, 0});
    progress.complete({1, 1});
    EXPECT_EQ(take(progress), (Started{{1, 2}, {1, 3}}));
}

TEST(ASegment, IsSentOnWhenItHasComeEvenIfAnEarlierOneHasNot) {
    const auto schedule = segmented([](Builder& builder) {
        builder.recv(1, builder.whole(output_buffer));
        builder.send(2, builder.whole(output_buffer));
    });
    Progress progress(schedule, 3, 4);
    EXPECT_EQ(take(progress), (Started{{0, 0}, {0, 1}, {0, 2}}));
    progress.complete({0, 1});
    EXPECT_EQ(take(progress), Started{});  // what meets the peer's first receive is the first segment
    progress.complete({0, 0});
    EXPECT_EQ(take(progress), (Started{{1, 0}, {1, 1}}));
    progress.complete({0, 2});
    EXPECT_EQ(take(progress), (Started{{1, 2}}));
}

TEST(ASlotOfATemporary, IsFilledAgainOnlyWhenItsLastReaderIsDone) {
    const auto schedule = segmented(
        [](Builder& builder) {
            const int temporary = builder.scratch();
            builder.recv(1, builder.whole(temporary));
            builder.send(2, builder.whole(temporary));
        },
        2);
    Progress progress(schedule, 4, 64);
    EXPECT_EQ(take(progress), (Started{{0, 0}, {0, 1}}));  // two slots
    progress.complete({0, 0});
    EXPECT_EQ(take(progress), (Started{{1, 0}}));  // the slot is still being sent
    progress.complete({1, 0});
    EXPECT_EQ(take(progress), (Started{{0, 2}}));
}

TEST(ASlotOfATemporary, IsWaitedForOnceHoweverOftenItIsUsed) {
    for (const int uses : {1, 50}) {
        const auto schedule = segmented(
            [&](Builder& builder) {
                const int temporary = builder.scratch();
                for (int i = 0; i < uses; ++i) {
                    builder.recv(1, builder.whole(temporary));
                    builder.reduce(builder.whole(temporary), builder.whole(output_buffer));
                }
            },
            2);
        int waits = 0;
        for (const auto& op : schedule.ops) {
            for (const auto& dependency : op.after) waits += dependency.lag > 0 ? 1 : 0;
        }
        EXPECT_EQ(waits, 1) << uses;
    }
}

TEST(AStageWithoutSegments, WaitsForAllSegmentsBeforeIt) {
    Builder builder(4, 0);
    builder.stage(true);
    builder.recv(1, builder.whole(output_buffer));
    builder.stage(false);
    builder.send(2, builder.whole(output_buffer));
    const auto schedule = builder.finish();
    Progress progress(schedule, 2, 4);
    EXPECT_EQ(take(progress), (Started{{0, 0}, {0, 1}}));
    progress.complete({0, 0});
    EXPECT_EQ(take(progress), Started{});
    progress.complete({0, 1});
    EXPECT_EQ(take(progress), (Started{{1, 0}}));
}

TEST(TheBound, IsOnTheMessagesOfOneDirectionToAllPeers) {
    Builder builder(5, 0);
    const int quarters = builder.even(4);
    builder.bound(2);
    for (int peer = 1; peer < 5; ++peer) {
        builder.send(peer, builder.whole(schedule::input_buffer));              // 0, 2, 4, 6
        builder.recv(peer, builder.blocks(output_buffer, quarters, peer - 1));  // 1, 3, 5, 7
    }
    const auto schedule = builder.finish();
    Progress progress(schedule, 1, 64);
    EXPECT_EQ(take(progress), (Started{{0, 0}, {1, 0}, {2, 0}, {3, 0}}));
    progress.complete({2, 0});
    EXPECT_EQ(take(progress), (Started{{6, 0}}));
    progress.complete({1, 0});
    EXPECT_EQ(take(progress), (Started{{5, 0}}));
}

TEST(TheBound, LetsSegmentsFlow) {
    const auto schedule = segmented([](Builder& builder) {
        builder.bound(1);
        builder.send(1, builder.whole(output_buffer));
        builder.send(2, builder.whole(output_buffer));
    });
    Progress progress(schedule, 9, 2);
    EXPECT_EQ(take(progress), (Started{{0, 0}, {0, 1}}));
    progress.complete({0, 0});
    EXPECT_EQ(take(progress), (Started{{1, 0}, {0, 2}}));
}

TEST(ALibraryCollective, IsEnteredOnlyWhenAllListedBeforeHasStarted) {
    Builder builder(4, 0);
    const int halves = builder.even(2);
    builder.recv(1, builder.blocks(output_buffer, halves, 0));              // 0
    builder.send(2, builder.blocks(output_buffer, halves, 0));              // 1 waits for 0
    builder.library_bcast(0, 0, builder.blocks(output_buffer, halves, 1));  // 2 waits for neither
    builder.send(3, builder.blocks(output_buffer, halves, 0));              // 3 comes after it
    const auto schedule = builder.finish();
    Progress progress(schedule, 1, 4);
    Instance instance;
    EXPECT_EQ(take(progress), (Started{{0, 0}}));
    EXPECT_FALSE(progress.next_collective(instance));  // operation 1 has not started
    progress.complete({0, 0});
    EXPECT_EQ(take(progress), (Started{{1, 0}, {3, 0}}));
    ASSERT_TRUE(progress.next_collective(instance));
    EXPECT_EQ(instance.op, 2);
    EXPECT_FALSE(progress.next_collective(instance));
}

TEST(TheEnd, IsReachedInAnyOrderOfCompletion) {
    std::mt19937_64 random(11);
    const auto schedule = segmented(
        [](Builder& builder) {
            const int temporary = builder.scratch();
            builder.recv(1, builder.whole(temporary));
            builder.recv(2, builder.whole(output_buffer));
            builder.reduce(builder.whole(temporary), builder.whole(output_buffer));
            builder.send(3, builder.whole(output_buffer));
        },
        3);
    for (int trial = 0; trial < 50; ++trial) {
        const int segments = 1 + static_cast<int>(random() % 200);
        Progress progress(schedule, segments, 1 + static_cast<int>(random() % 64));
        std::vector<Instance> under_way;
        int done = 0;
        for (; !progress.finished(); ++done) {
            progress.take_ready(under_way);
            ASSERT_FALSE(under_way.empty());
            std::swap(under_way[random() % under_way.size()], under_way.back());
            progress.complete(under_way.back());
            under_way.pop_back();
        }
        EXPECT_EQ(done, 4 * segments);
    }
}

TEST(AWindowOrNumberOfSegmentsOutOfRange, IsRefused) {
    const auto schedule = segmented([](Builder& builder) { builder.send(1, builder.whole(output_buffer)); });
    EXPECT_THROW(Progress(schedule, 0, 4), std::invalid_argument);
    EXPECT_THROW(Progress(schedule, 1, 0), std::invalid_argument);
    EXPECT_THROW(Progress(schedule, 1, 65), std::invalid_argument);
}

}  // namespace
}  // namespace isochrone::tests
