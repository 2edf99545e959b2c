// SPDX-License-Identifier: BSD-3-Clause
//
// Every schedule against the MPI library's own result. All ranks draw the same random numbers from one seed.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "algorithms/algorithm.hpp"
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

/// Affine functions, and how they are combined: in rank order, or, since translations commute, in any.
class Affines {
  public:
    explicit Affines(bool commute) : commute_(commute) {
        MPI_Type_contiguous(2, MPI_UINT64_T, &type_);
        MPI_Type_commit(&type_);
        MPI_Op_create(compose_affine, commute ? 1 : 0, &op_);
    }
    ~Affines() {
        MPI_Op_free(&op_);
        MPI_Type_free(&type_);
    }
    Affines(const Affines&) = delete;
    Affines& operator=(const Affines&) = delete;

    [[nodiscard]] std::vector<Affine> some(std::size_t count, std::uint64_t seed) const {
        std::mt19937_64 random(seed);
        std::vector<Affine> result(count);
        for (auto& f : result) f = {commute_ ? 1 : random() | 1U, random()};
        return result;
    }
    [[nodiscard]] bool commute() const { return commute_; }
    [[nodiscard]] MPI_Datatype type() const { return type_; }
    [[nodiscard]] MPI_Op op() const { return op_; }

  private:
    bool commute_;
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
    MPI_Op op_ = MPI_OP_NULL;
};

/// Compares a recipe with the library's own reduction, in place or not.
void expect_reduced_like_library(Communicator& communicator, const collectives::Collective& collective,
                                 const std::string& recipe, const Affines& affines, std::size_t count,
                                 int root, bool in_place, std::uint64_t seed) {
    const compose::Resolved* resolved = nullptr;
    try {
        resolved = &communicator.resolve(collective, compose::parse_recipe(recipe), !affines.commute());
    } catch (const std::invalid_argument&) {
        ASSERT_FALSE(affines.commute()) << recipe;  // it cannot keep the order
        return;
    }
    const auto input = affines.some(count, seed + at(world_rank()));
    std::vector<Affine> expected(count);
    const int length = static_cast<int>(count);
    if (collective.rooted) {
        MPI_Reduce(input.data(), expected.data(), length, affines.type(), affines.op(), root, MPI_COMM_WORLD);
    } else {
        MPI_Allreduce(input.data(), expected.data(), length, affines.type(), affines.op(), MPI_COMM_WORLD);
    }
    const bool has_output = !collective.rooted || world_rank() == root;
    auto found = in_place && has_output ? input : std::vector<Affine>(has_output ? count : 0);
    communicator.run(*resolved, root,
                     {.input = in_place && has_output ? found.data() : input.data(),
                      .output = has_output ? found.data() : nullptr,
                      .unit_bytes = sizeof(Affine),
                      .datatype = affines.type(),
                      .op = affines.op()},
                     length);
    if (has_output) {
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
        Communicator communicator(MPI_COMM_WORLD, random_layout(world_size(), 3, random));
        for (const auto& collective : collectives::all()) {
            if (!collective.reduces) continue;
            for (const auto& row : collective.across()) {
                const std::string name(row.name);
                for (const std::string& recipe :
                     {name, name + "@" + std::to_string(1 + random() % 999),
                      "hierarchical(machine=" + name + ",level-2=binomial)@160",
                      "hierarchical(machine=" + name + ",level-1=chain,level-2=flat)"}) {
                    for (const std::size_t count : {0U, 7U, 1000U}) {
                        const int root =
                            collective.rooted ? static_cast<int>(random() % at(world_size())) : 0;
                        expect_reduced_like_library(communicator, collective, recipe,
                                                    random() % 2 == 0 ? translations : affines, count, root,
                                                    random() % 2 == 0, random());
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
