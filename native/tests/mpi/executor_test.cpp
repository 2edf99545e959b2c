// SPDX-License-Identifier: BSD-3-Clause
//
// Every schedule against the MPI library's own result. All ranks draw the same random numbers from one seed.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <numeric>

#include "algorithms/algorithm.hpp"
#include "compose/allreduce.hpp"
#include "compose/alltoallv.hpp"
#include "compose/gatherv.hpp"
#include "executor/communicator.hpp"
#include "support/random_layout.hpp"

namespace isochrone::tests {
namespace {

using namespace core;
using mpi::executor::Communicator;
namespace trees = algorithms::trees;

int world_size() {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}
int world_rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}
template <class T>
std::size_t at(T index) {
    return static_cast<std::size_t>(index);
}

/// Fewer where ranks are more than cores, and libraries that spin make each of them take long.
int trials() { return world_size() <= 2 ? 12 : 4; }

/// The same bytes on the root as the library's own broadcast would leave everywhere.
std::vector<unsigned char> pattern(std::int64_t bytes, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<unsigned char> data(at(bytes));
    for (auto& byte : data) byte = static_cast<unsigned char>(random());
    return data;
}

void expect_like_library(Communicator& communicator, const std::string& recipe, std::int64_t bytes, int root,
                         unsigned seed) {
    const auto& resolved = communicator.resolve_bcast(compose::parse_recipe(recipe));
    auto expected = world_rank() == root ? pattern(bytes, seed) : std::vector<unsigned char>(at(bytes));
    auto found = expected;
    MPI_Bcast(expected.data(), static_cast<int>(bytes), MPI_BYTE, root, MPI_COMM_WORLD);
    communicator.bcast(resolved, found.data(), bytes, root);
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

/// x -> a x + b (mod 2^64), composed: associative, not commutative.
struct Affine {
    std::uint64_t a;
    std::uint64_t b;
    friend bool operator==(const Affine&, const Affine&) = default;
};
void compose_affine(void* left, void* right, int* count, MPI_Datatype*) {
    const auto* f = static_cast<Affine*>(left);
    auto* g = static_cast<Affine*>(right);
    for (int i = 0; i < *count; ++i) g[i] = {f[i].a * g[i].a, f[i].a * g[i].b + f[i].b};
}

std::vector<trees::Tree> random_trees(std::size_t count, std::mt19937_64& random) {
    static constexpr trees::Tree all[] = {trees::flat, trees::chain, trees::binary, trees::binomial};
    std::vector<trees::Tree> result;
    for (std::size_t i = 0; i < count; ++i) result.push_back(all[random() % 4]);
    return result;
}

TEST(TheHierarchicalAllreduce, KeepsRankOrderAsTheLibraryDoes) {
    std::mt19937_64 random(4);
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_UINT64_T, &pair);
    MPI_Type_commit(&pair);
    for (int trial = 0; trial < trials(); ++trial) {
        const auto layout = random_layout(world_size(), 3, random);
        const auto trees = random_trees(3, random);
        for (const bool commutative : {false, true}) {
            // Under a commutative operator only translations are fair: they commute.
            MPI_Op op = MPI_OP_NULL;
            MPI_Op_create(compose_affine, commutative ? 1 : 0, &op);
            const std::int64_t count = static_cast<std::int64_t>(random() % 300);
            std::vector<Affine> input(at(count));
            std::vector<Affine> expected(at(count));
            std::vector<Affine> found(at(count));
            std::mt19937_64 mine(random() + at(world_rank()));
            for (auto& f : input) f = {commutative ? 1 : mine() | 1U, mine()};
            MPI_Allreduce(input.data(), expected.data(), static_cast<int>(count), pair, op, MPI_COMM_WORLD);
            Communicator communicator(MPI_COMM_WORLD, layout);
            const auto schedule =
                compose::hierarchical_allreduce(layout, {0, 1, 2}, trees, commutative, true, world_rank());
            const schedule::Extents extents{.total = count,
                                            .segment = 32,
                                            .counts = {},
                                            .input_displacements = {},
                                            .output_displacements = {}};
            communicator.run(schedule, extents,
                             {.input = input.data(),
                              .output = found.data(),
                              .unit_bytes = sizeof(Affine),
                              .datatype = pair,
                              .op = op});
            EXPECT_TRUE(found == expected) << count << " elements, commutative: " << commutative;
            MPI_Op_free(&op);
        }
    }
    MPI_Type_free(&pair);
}

TEST(TheHierarchicalGatherv, NeedsCountsAtTheRootOnly) {
    std::mt19937_64 random(5);
    for (int trial = 0; trial < trials(); ++trial) {
        const auto layout = random_layout(world_size(), 3, random);
        const auto trees = random_trees(3, random);
        const int root = static_cast<int>(random() % at(world_size()));
        std::vector<int> counts;
        std::vector<int> displacements;
        int total = 0;
        for (int rank = 0; rank < world_size(); ++rank) {
            counts.push_back(static_cast<int>(random() % 5000));
            displacements.push_back(total);
            total += counts.back() + 3;
        }
        const auto input = pattern(counts[at(world_rank())], static_cast<unsigned>(world_rank()));
        std::vector<unsigned char> expected(at(total));
        auto found = expected;
        MPI_Gatherv(input.data(), static_cast<int>(input.size()), MPI_BYTE, expected.data(), counts.data(),
                    displacements.data(), MPI_BYTE, root, MPI_COMM_WORLD);
        schedule::Extents extents{
            .counts = {counts[at(world_rank())]}, .input_displacements = {}, .output_displacements = {}};
        if (world_rank() == root) {
            extents.counts.insert(extents.counts.end(), counts.begin(), counts.end());
            extents.output_displacements.assign(displacements.begin(), displacements.end());
        }
        Communicator communicator(MPI_COMM_WORLD, layout);
        communicator.run(compose::hierarchical_gatherv(layout, {0, 1, 2}, trees, world_rank(), root), extents,
                         {.input = input.data(), .output = found.data()});
        if (world_rank() == root) {
            EXPECT_TRUE(found == expected) << "root " << root;
        }
    }
}

TEST(TheHierarchicalAlltoallv, DeliversWhatTheLibraryDelivers) {
    std::mt19937_64 random(6);
    for (int trial = 0; trial < trials(); ++trial) {
        const auto layout = random_layout(world_size(), 3, random);
        std::vector<std::vector<int>> counts(at(world_size()));
        for (auto& row : counts) {
            for (int d = 0; d < world_size(); ++d) row.push_back(static_cast<int>(random() % 700));
        }
        const auto& sent = counts[at(world_rank())];
        std::vector<int> received;
        for (const auto& row : counts) received.push_back(row[at(world_rank())]);
        const auto offsets = [](const std::vector<int>& lengths) {
            std::vector<int> result(lengths.size());
            std::exclusive_scan(lengths.begin(), lengths.end(), result.begin(), 0);
            return result;
        };
        const auto send_offsets = offsets(sent);
        const auto recv_offsets = offsets(received);
        const auto input =
            pattern(std::accumulate(sent.begin(), sent.end(), 0), static_cast<unsigned>(world_rank()));
        std::vector<unsigned char> expected(at(std::accumulate(received.begin(), received.end(), 0)));
        auto found = expected;
        MPI_Alltoallv(input.data(), sent.data(), send_offsets.data(), MPI_BYTE, expected.data(),
                      received.data(), recv_offsets.data(), MPI_BYTE, MPI_COMM_WORLD);
        schedule::Extents extents{
            .counts = {sent.begin(), sent.end()}, .input_displacements = {}, .output_displacements = {}};
        extents.counts.insert(extents.counts.end(), received.begin(), received.end());
        Communicator communicator(MPI_COMM_WORLD, layout);
        communicator.run(compose::hierarchical_alltoallv(layout, {0, 1, 2}, world_rank()), extents,
                         {.input = input.data(), .output = found.data()});
        EXPECT_TRUE(found == expected) << "on rank " << world_rank();
    }
}

}  // namespace
}  // namespace isochrone::tests
