// SPDX-License-Identifier: BSD-3-Clause
//
// Schedules of a message against the MPI library's own result. All ranks draw the same numbers from one seed.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "algorithms/algorithm.hpp"
#include "executor/communicator.hpp"
#include "mpi/affines.hpp"
#include "mpi/world.hpp"
#include "support/random_layout.hpp"
#include "support/ways.hpp"

namespace isochrone::tests {
namespace {

using namespace core;
using mpi::executor::Communicator;

/// Fewer where ranks are more than cores, and libraries that spin make each of them take long.
int trials() { return world_size() <= 2 ? 12 : 4; }

void expect_like_library(Communicator& communicator, const std::string& recipe, std::int64_t bytes, int root,
                         unsigned seed) {
    const auto& resolved = communicator.resolve(collectives::named("bcast"), compose::parse_recipe(recipe));
    auto expected = world_rank() == root ? pattern(bytes, seed) : std::vector<unsigned char>(at(bytes));
    auto found = expected;
    MPI_Bcast(expected.data(), static_cast<int>(bytes), MPI_BYTE, root, MPI_COMM_WORLD);
    communicator.run(resolved, root, {.input = found.data(), .output = found.data()}, bytes);
    EXPECT_TRUE(found == expected) << recipe << ", " << bytes << " bytes from " << root << " on rank "
                                   << world_rank();
}

TEST(EveryBroadcast, LeavesTheBytesOfTheLibrarysOwn) {
    std::mt19937_64 random(1);
    for (int trial = 0; trial < std::min(3, trials() / 2); ++trial) {
        Communicator communicator(MPI_COMM_WORLD, random_layout(world_size(), 3, random));
        for (const auto& row : algorithms::bcast_table()) {
            const std::string name(row.name);
            for (const std::int64_t bytes : {0, 1, 7, 1000, 70001}) {
                const int root = static_cast<int>(random() % at(world_size()));
                const std::string segment = std::to_string(1 + random() % 4096);
                expect_like_library(communicator, name, bytes, root, 1);
                expect_like_library(communicator, name + "@" + segment, bytes, root, 2);
                expect_like_library(communicator, "ordered(" + name + ")@" + segment, bytes, root, 3);
                if (row.tree != nullptr) {
                    expect_like_library(communicator, "depth_first(" + name + ")", bytes, root, 6);
                    expect_like_library(communicator, "breadth_first(" + name + ")@" + segment, bytes, root,
                                        7);
                    expect_like_library(communicator,
                                        "hierarchical(machine=depth_first(" + name + "),level-2=flat)", bytes,
                                        root, 8);
                }
                expect_like_library(communicator, "hierarchical(machine=" + name + ",level-2=binomial)",
                                    bytes, root, 4);
                expect_like_library(
                    communicator, "hierarchical(machine=chain,level-1=" + name + ",level-2=flat)@" + segment,
                    bytes, root, 5);
            }
        }
    }
}

TEST(MagpieWithTheLibrarysOwnInsideEachNode, LeavesTheSameBytes) {
    std::mt19937_64 random(2);
    for (int trial = 0; trial < 4; ++trial) {
        Communicator communicator(MPI_COMM_WORLD, random_layout(world_size(), 3, random));
        for (int root = 0; root < world_size(); ++root) {
            expect_like_library(communicator, "hierarchical(machine=flat,level-1=native)", 5000, root, 1);
            expect_like_library(communicator, "hierarchical(machine=chain,level-1=native)@1024", 5000, root,
                                2);
            expect_like_library(communicator,
                                "hierarchical(machine=binomial,level-1=chain,level-2=native)@999", 5000, root,
                                3);
        }
    }
}

TEST(ABroadcastOverTheEagerLimit, FlowsInSegments) {
    std::mt19937_64 random(3);
    Communicator communicator(MPI_COMM_WORLD, random_layout(world_size(), 2, random));
    expect_like_library(communicator, "pipeline@131072", 3'000'001, world_size() - 1, 1);
    expect_like_library(communicator, "hierarchical(machine=pipeline,level-1=binary)", 3'000'001, 0, 2);
}

/// Compares a recipe with the library's own reduction, in place or not.
void expect_reduced_like_library(Communicator& communicator, const collectives::Collective& collective,
                                 const std::string& recipe, const Affines& affines, std::size_t count,
                                 int root, bool in_place, std::uint64_t seed) {
    const compose::Resolved* resolved = nullptr;
    try {
        resolved = &communicator.resolve(collective, compose::parse_recipe(recipe), !affines.commute());
    } catch (const std::invalid_argument& error) {
        ASSERT_TRUE(!affines.commute()) << recipe;  // it cannot keep the order
        ASSERT_NE(std::string(error.what()).find("order"), std::string::npos) << error.what();
        return;
    }
    const auto input = affines.some(count, seed + at(world_rank()));
    std::vector<Affine> expected(count);
    const int length = static_cast<int>(count);
    if (collective.name == "scan") {
        MPI_Scan(input.data(), expected.data(), length, affines.type(), affines.op(), MPI_COMM_WORLD);
    } else if (collective.name == "exscan") {
        MPI_Exscan(input.data(), expected.data(), length, affines.type(), affines.op(), MPI_COMM_WORLD);
    } else if (collective.rooted) {
        MPI_Reduce(input.data(), expected.data(), length, affines.type(), affines.op(), root, MPI_COMM_WORLD);
    } else {
        MPI_Allreduce(input.data(), expected.data(), length, affines.type(), affines.op(), MPI_COMM_WORLD);
    }
    const bool has_output = !collective.rooted || world_rank() == root;
    auto found = in_place && has_output ? input : std::vector<Affine>(has_output ? count : 0);
    communicator.run(*resolved, root,
                     {.input = in_place && has_output ? found.data() : input.data(),
                      .output = has_output ? found.data() : nullptr,
                      .in_place = in_place && has_output,
                      .unit_bytes = sizeof(Affine),
                      .datatype = affines.type(),
                      .op = affines.op()},
                     length);
    // What the first rank has of an exclusive scan is undefined.
    if (has_output && (collective.name != "exscan" || world_rank() > 0)) {
        EXPECT_TRUE(found == expected) << collective.name << " by " << recipe << ", " << count
                                       << " elements, root " << root << ", commutative: " << affines.commute()
                                       << ", in place: " << in_place << ", rank " << world_rank();
    }
}

TEST(EveryReduction, LeavesWhatTheLibrarysOwnLeaves) {
    std::mt19937_64 random(4);
    const Affines translations(true);
    const Affines affines(false);
    for (int trial = 0; trial < (world_size() <= 2 ? 3 : 1); ++trial) {
        Communicator any(MPI_COMM_WORLD, random_layout(world_size(), 3, random));
        Communicator of_runs(MPI_COMM_WORLD, random_layout_of_runs(world_size(), 3, random));
        for (const auto& collective : collectives::all()) {
            if (!collective.reduces || collective.has_blocks()) continue;
            for (const auto& row : collective.across()) {
                const std::string name(row.name);
                std::vector<std::string> recipes{name, name + "@" + std::to_string(1 + random() % 999)};
                const std::string across = "hierarchical(machine=" + name;
                recipes.push_back(across + ",level-2=" + along("binomial", collective) + ")@160");
                recipes.push_back(across + ",level-1=chain,level-2=" + along("flat", collective) + ")");
                for (const std::string& recipe : recipes) {
                    for (const std::size_t count : {0U, 7U, 1000U}) {
                        const int root =
                            collective.rooted ? static_cast<int>(random() % at(world_size())) : 0;
                        const Affines& operation = random() % 2 == 0 ? translations : affines;
                        const bool keeps_order = collective.in_order || !operation.commute();
                        expect_reduced_like_library(keeps_order ? of_runs : any, collective, recipe,
                                                    operation, count, root, random() % 2 == 0, random());
                    }
                }
            }
        }
    }
}

TEST(EveryBarrier, LetsNobodyGoBeforeAllHaveCome) {
    std::mt19937_64 random(7);
    Communicator communicator(MPI_COMM_WORLD, random_layout(world_size(), 3, random));
    const auto& barrier = collectives::named("barrier");
    for (const auto& row : barrier.across()) {
        const std::string name(row.name);
        for (const std::string& recipe :
             {name, "hierarchical(machine=" + name + ",level-1=binomial+flat,level-2=flat)"}) {
            const auto& resolved = communicator.resolve(barrier, compose::parse_recipe(recipe));
            const int late = static_cast<int>(random() % at(world_size()));
            MPI_Barrier(MPI_COMM_WORLD);
            if (world_rank() == late) std::this_thread::sleep_for(std::chrono::milliseconds(5));
            // All ranks are on one host here, and have one clock.
            const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch().count(); };
            long long last_came = now();
            communicator.run(resolved, 0, {}, 0);
            long long first_went = now();
            MPI_Allreduce(MPI_IN_PLACE, &last_came, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
            MPI_Allreduce(MPI_IN_PLACE, &first_went, 1, MPI_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
            EXPECT_GE(first_went, last_came) << recipe;
        }
    }
}

}  // namespace
}  // namespace isochrone::tests
