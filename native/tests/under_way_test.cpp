// SPDX-License-Identifier: BSD-3-Clause
//
// How many messages one rank has under way at once, over all its peers: a bound that does not grow with the
// group.
#include <gtest/gtest.h>

#include <algorithm>

#include "collectives/collective.hpp"
#include "compose/compose.hpp"
#include "schedule/progress.hpp"
#include "support/random_layout.hpp"
#include "support/ways.hpp"

namespace isochrone::tests {
namespace {

using namespace core;
using algorithms::Algorithm;
using collectives::Collective;
using schedule::Instance;
using schedule::OpKind;

/// More than twice what may be under way in one direction: the bound bites, and more than once.
constexpr int ranks = 70;

/// Which message ends when nothing else can start.
enum class Ends { oldest, newest, any };

struct UnderWay {
    int sends = 0;
    int receives = 0;
};

/// The most that a rank has under way if no message ends as long as another one can start. What is local is
/// done at once.
UnderWay most_of(const schedule::Schedule& schedule, Ends ends, std::mt19937_64& random) {
    schedule::Progress progress(schedule, 1, 64);
    UnderWay now;
    UnderWay most;
    std::vector<Instance> under_way;
    std::vector<Instance> ready;
    const auto count = [&](Instance message, int by) {
        const bool is_send = schedule.ops[static_cast<std::size_t>(message.op)].kind == OpKind::send;
        (is_send ? now.sends : now.receives) += by;
    };
    while (!progress.finished()) {
        ready.clear();
        progress.take_ready(ready);
        for (const Instance instance : ready) {
            const OpKind kind = schedule.ops[static_cast<std::size_t>(instance.op)].kind;
            if (kind == OpKind::send || kind == OpKind::recv) {
                under_way.push_back(instance);
                count(instance, 1);
            } else {
                progress.complete(instance);
            }
        }
        if (!ready.empty()) continue;
        most = {std::max(most.sends, now.sends), std::max(most.receives, now.receives)};
        Instance collective;
        if (progress.next_collective(collective)) {
            progress.complete(collective);
            continue;
        }
        if (under_way.empty()) {
            ADD_FAILURE() << "rank " << schedule.rank << " waits for nothing";
            break;
        }
        const std::size_t ended = ends == Ends::oldest   ? 0
                                  : ends == Ends::newest ? under_way.size() - 1
                                                         : random() % under_way.size();
        count(under_way[ended], -1);
        progress.complete(under_way[ended]);
        under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(ended));
    }
    return most;
}

/// The most of any rank, in any order of ends.
UnderWay most_of(const Collective& collective, const std::string& recipe, const place::Layout& layout,
                 bool in_order, std::mt19937_64& random) {
    const auto resolved = compose::resolve(collective, compose::parse_recipe(recipe), layout, in_order);
    const int root = collective.rooted ? static_cast<int>(random() % ranks) : 0;
    UnderWay most;
    for (int rank = 0; rank < layout.size; ++rank) {
        const auto schedule = compose::schedule_of(resolved, layout, rank, root);
        for (const Ends ends : {Ends::oldest, Ends::newest, Ends::any}) {
            const UnderWay here = most_of(schedule, ends, random);
            most = {std::max(most.sends, here.sends), std::max(most.receives, here.receives)};
        }
    }
    return most;
}

void expect_at_most(int bound, const Collective& collective, const std::string& recipe,
                    const place::Layout& layout, std::mt19937_64& random) {
    for (const bool in_order : {false, true}) {
        UnderWay most;
        try {
            most = most_of(collective, recipe, layout, in_order, random);
        } catch (const std::invalid_argument&) {
            continue;  // not for blocks of any length, or not in order: no rank runs it
        }
        EXPECT_LE(most.sends, bound) << "sends of a " << collective.name << " by " << recipe;
        EXPECT_LE(most.receives, bound) << "receives of a " << collective.name << " by " << recipe;
    }
}

TEST(EveryAlgorithm, HasABoundedNumberOfMessagesUnderWay) {
    std::mt19937_64 random(1);
    const auto layout = random_layout(ranks, 3, random);
    for (const Collective& collective : collectives::all()) {
        for (const Algorithm& row : collective.across()) {
            const std::string name(row.name);
            expect_at_most(schedule::most_under_way, collective, name, layout, random);
            expect_at_most(schedule::most_under_way, collective, "ordered(" + name + ")", layout, random);
            if (row.default_parameter == 0) continue;
            // Many branches are no more messages at once; but who asks for more messages gets them.
            const bool asks = collective.across == algorithms::alltoall_table;
            expect_at_most(asks ? ranks : schedule::most_under_way, collective,
                           name + "/" + std::to_string(ranks), layout, random);
        }
    }
}

TEST(HierarchicalRecipes, HaveABoundedNumberOfMessagesUnderWay) {
    std::mt19937_64 random(2);
    for (const Collective& collective : collectives::all()) {
        for (int trial = 0; trial < 4; ++trial) {
            const auto layout =
                trial % 2 == 0 ? random_layout(ranks, 3, random) : random_layout_of_runs(ranks, 3, random);
            for (const Algorithm& row : collective.across()) {
                const std::string name(row.name);
                const std::string inside = collective.up == algorithms::scan_table ? "linear+flat"
                                           : collective.across == algorithms::alltoall_table
                                               ? "linear"
                                               : along("flat", collective);
                expect_at_most(schedule::most_under_way, collective,
                               "hierarchical(machine=" + name + ",level-1=" + inside + ")", layout, random);
                expect_at_most(
                    schedule::most_under_way, collective,
                    "hierarchical(machine=" + name + ",level-1=" + inside + ",level-2=" + inside + ")",
                    layout, random);
            }
        }
    }
}

TEST(AnAlltoall, HasAsManyMessagesUnderWayAsItsRecipeSays) {
    std::mt19937_64 random(3);
    const auto layout = random_layout(ranks, 1, random);
    const auto& alltoall = collectives::named("alltoall");
    for (const auto& [recipe, messages] :
         {std::pair("pairwise", 1), {"linear/8", 8}, {"linear", 32}, {"linear/50", 50}}) {
        const UnderWay most = most_of(alltoall, recipe, layout, false, random);
        EXPECT_EQ(most.sends, messages) << recipe;
        EXPECT_EQ(most.receives, messages) << recipe;
    }
}

}  // namespace
}  // namespace isochrone::tests
