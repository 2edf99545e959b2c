// SPDX-License-Identifier: BSD-3-Clause
//
// Schedules of blocks against the MPI library's own result. All ranks draw the same numbers from one seed.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <numeric>

#include "executor/communicator.hpp"
#include "mpi/affines.hpp"
#include "mpi/world.hpp"
#include "support/random_layout.hpp"

namespace isochrone::tests {
namespace {

using namespace core;
using mpi::executor::Communicator;

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
