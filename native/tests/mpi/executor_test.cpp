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
#include "executor/communicator.hpp"
#include "support/random_layout.hpp"
#include "support/ways.hpp"

namespace isochrone::tests {
namespace {

using namespace core;
using mpi::executor::Communicator;

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

/// Blocks of all ranks, one behind the other.
struct Row {
    explicit Row(std::vector<int> of) : counts(std::move(of)), displacements(counts.size()) {
        std::exclusive_scan(counts.begin(), counts.end(), displacements.begin(), 0);
    }
    [[nodiscard]] int total() const { return std::accumulate(counts.begin(), counts.end(), 0); }
    std::vector<int> counts;
    std::vector<int> displacements;
};

/// One call of a collective of blocks, and what the library's own leaves.
class BlocksCall {
  public:
    BlocksCall(const collectives::Collective& collective, int root, bool in_place, std::mt19937_64& random)
        : collective_(collective),
          is_root_(!collective.rooted || world_rank() == root),
          question_{.size = world_size(), .root = root, .total = any_length(random), .in_place = in_place} {
        const auto size = at(world_size());
        if (collective.agreed == collectives::Agreed::block) return;
        if (!collective.is_exchange() || collective.reduces) {
            for (std::size_t i = 0; i < size; ++i) question_.lengths.push_back(any_length(random));
            return;
        }
        question_.lengths.resize(size * size);
        for (std::size_t s = 0; s < size; ++s) {
            for (std::size_t d = 0; d < size; ++d) {
                const auto drawn = any_length(random);
                question_.lengths[s * size + d] = in_place && d < s ? question_.lengths[d * size + s] : drawn;
            }
        }
    }

    void expect_like_library(Communicator& communicator, const compose::Resolved& resolved) const {
        const Row out = row(collective_.input, true);
        const Row in = row(collective_.output, false);
        const bool has_in = collective_.has_input(is_root_);
        const bool has_out = collective_.has_output(is_root_);
        const bool in_place = question_.in_place && is_root_;
        const auto input = pattern(has_in ? out.total() : 0, static_cast<unsigned>(world_rank()));
        auto found = std::vector<unsigned char>(has_out ? at(in.total()) : 0);
        const auto me = at(world_rank());
        const bool scatters = collective_.output == collectives::Holds::own_block;
        if (in_place && collective_.is_exchange()) {
            found = input;
        } else if (in_place && !scatters) {
            std::copy(input.begin(), input.end(), found.begin() + in.displacements[me]);
        }
        auto expected = found;
        call_library(in_place && !scatters ? MPI_IN_PLACE : input.data(), out,
                     in_place && scatters ? MPI_IN_PLACE : expected.data(), in);
        communicator.run(resolved, question_.root,
                         {.input = input.data(), .output = found.data(), .in_place = in_place},
                         collectives::extents(collective_, question_, world_rank()));
        EXPECT_TRUE(found == expected)
            << collective_.name << " by " << compose::to_text(resolved.recipe)
            << (in_place ? " in place" : "") << ", root " << question_.root << ", rank " << world_rank();
    }

  private:
    static std::int64_t any_length(std::mt19937_64& random) {
        return random() % 4 == 0 ? 0 : static_cast<std::int64_t>(random() % 5000);
    }
    [[nodiscard]] Row row(collectives::Holds holds, bool is_input) const {
        const int me = world_rank();
        if (holds == collectives::Holds::own_block) return Row({static_cast<int>(question_.length(me, me))});
        std::vector<int> counts;
        for (int other = 0; other < world_size(); ++other) {
            counts.push_back(static_cast<int>(!collective_.is_exchange() ? question_.length(other, other)
                                              : is_input                 ? question_.length(me, other)
                                                                         : question_.length(other, me)));
        }
        return Row(std::move(counts));
    }
    void call_library(const void* input, const Row& out, void* output, const Row& in) const {
        const auto name = collective_.name;
        const int root = question_.root;
        if (name.starts_with("gather")) {
            MPI_Gatherv(input, out.total(), MPI_BYTE, output, in.counts.data(), in.displacements.data(),
                        MPI_BYTE, root, MPI_COMM_WORLD);
        } else if (name.starts_with("scatter")) {
            MPI_Scatterv(input, out.counts.data(), out.displacements.data(), MPI_BYTE, output, in.total(),
                         MPI_BYTE, root, MPI_COMM_WORLD);
        } else if (name.starts_with("allgather")) {
            MPI_Allgatherv(input, out.total(), MPI_BYTE, output, in.counts.data(), in.displacements.data(),
                           MPI_BYTE, MPI_COMM_WORLD);
        } else if (name.starts_with("alltoall")) {
            MPI_Alltoallv(input, out.counts.data(), out.displacements.data(), MPI_BYTE, output,
                          in.counts.data(), in.displacements.data(), MPI_BYTE, MPI_COMM_WORLD);
        } else {
            ADD_FAILURE() << "nothing to compare " << name << " with";
        }
    }

    const collectives::Collective& collective_;
    bool is_root_;
    collectives::Question question_;
};

/// Flat and hierarchical recipes for a row of a collective's table.
std::vector<std::string> recipes_of_blocks(const collectives::Collective& collective, std::string_view row) {
    const std::string name(row);
    const std::string inside(collective.is_exchange() && !collective.reduces ? "pairwise" : "binomial");
    return {name, "ordered(" + name + ")", "hierarchical(machine=" + name + ",level-2=" + inside + ")",
            "hierarchical(machine=" + name + ",level-1=" + inside + ",level-2=" + inside + ")"};
}

/// What a recipe means on a communicator, or nullptr where it cannot keep an order or needs equal blocks.
const compose::Resolved* resolve_if_possible(Communicator& communicator,
                                             const collectives::Collective& collective,
                                             const std::string& recipe, bool in_order = false) {
    try {
        return &communicator.resolve(collective, compose::parse_recipe(recipe), in_order);
    } catch (const std::invalid_argument& error) {
        const std::string what = error.what();
        EXPECT_TRUE(what.find("order") != std::string::npos || what.find("one length") != std::string::npos)
            << what;
        return nullptr;
    }
}

TEST(EveryCollectiveOfBlocks, MovesThemAsTheLibrarysOwnDoes) {
    std::mt19937_64 random(5);
    for (int trial = 0; trial < (world_size() <= 2 ? 4 : 1); ++trial) {
        Communicator communicator(MPI_COMM_WORLD, random_layout(world_size(), 3, random));
        for (const auto& collective : collectives::all()) {
            if (!collective.has_blocks() || collective.reduces) continue;
            for (const auto& row : collective.across()) {
                for (const std::string& recipe : recipes_of_blocks(collective, row.name)) {
                    // Ranks that spin on few cores make each call take long: half of them will do.
                    if (world_size() > 4 && random() % 2 == 0) continue;
                    const int root = collective.rooted ? static_cast<int>(random() % at(world_size())) : 0;
                    const BlocksCall call(collective, root, random() % 2 == 0, random);
                    const auto* resolved = resolve_if_possible(communicator, collective, recipe);
                    if (resolved != nullptr) call.expect_like_library(communicator, *resolved);
                }
            }
        }
    }
}

TEST(EveryReductionThatIsScattered, LeavesWhatTheLibrarysOwnLeaves) {
    std::mt19937_64 random(6);
    const Affines translations(true);
    const Affines affines(false);
    Communicator communicator(MPI_COMM_WORLD, random_layout(world_size(), 3, random));
    for (const auto& collective : collectives::all()) {
        if (!collective.has_blocks() || !collective.reduces) continue;
        for (const auto& row : collective.across()) {
            for (const std::string& recipe : recipes_of_blocks(collective, row.name)) {
                const Affines& operation = random() % 2 == 0 ? translations : affines;
                const bool in_place = random() % 2 == 0;
                collectives::Question question{.size = world_size(),
                                               .total = static_cast<std::int64_t>(random() % 300)};
                std::vector<int> counts(at(world_size()), static_cast<int>(question.total));
                if (collective.agreed != collectives::Agreed::block) {
                    for (int& count : counts) count = static_cast<int>(random() % 300);
                    question.lengths.assign(counts.begin(), counts.end());
                }
                const std::uint64_t seed = random();
                const auto* resolved =
                    resolve_if_possible(communicator, collective, recipe, !operation.commute());
                if (resolved == nullptr) continue;
                const Row all(counts);
                const auto own = at(counts[at(world_rank())]);
                const auto input = operation.some(at(all.total()), seed + at(world_rank()));
                std::vector<Affine> expected(own);
                MPI_Reduce_scatter(input.data(), expected.data(), counts.data(), operation.type(),
                                   operation.op(), MPI_COMM_WORLD);
                auto found = in_place ? input : std::vector<Affine>(own);
                communicator.run(*resolved, 0,
                                 {.input = input.data(),
                                  .output = found.data(),
                                  .in_place = in_place,
                                  .unit_bytes = sizeof(Affine),
                                  .datatype = operation.type(),
                                  .op = operation.op()},
                                 collectives::extents(collective, question, world_rank()));
                found.resize(own);
                EXPECT_TRUE(found == expected)
                    << collective.name << " by " << recipe << ", commutative: " << operation.commute()
                    << ", in place: " << in_place << ", rank " << world_rank();
            }
        }
    }
}

}  // namespace
}  // namespace isochrone::tests
