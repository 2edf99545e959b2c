// SPDX-License-Identifier: BSD-3-Clause
//
// Every row of every table, flat and at any level of random trees, does what its collective's row promises.
#include <gtest/gtest.h>

#include <tuple>

#include "collectives/collective.hpp"
#include "compose/compose.hpp"
#include "schedule/extents.hpp"
#include "support/random_layout.hpp"

namespace isochrone::tests {
namespace {

using namespace core;
using algorithms::Algorithm;
using collectives::Collective;

#ifdef __SANITIZE_ADDRESS__
// A proof takes 30 times as long here, and grows with the cube of the group. Reads and writes beyond a buffer
// are those of small groups; what is proved is proved without the sanitizer.
constexpr int largest_group = 17;
#else
constexpr int largest_group = 33;
#endif

/// A number from 0 to most - 1.
int any(int most, std::mt19937_64& random) {
    return static_cast<int>(random() % static_cast<unsigned>(most));
}

/// One send and one receive is under way at a time: each waits for the one before it, whatever the peers are.
/// Whoever gets through that gets through any other bound, which asks for some of these waits only.
void take_one_at_a_time(schedule::Schedule& schedule) {
    int last_send = -1;
    int last_recv = -1;
    for (int i = 0; i < static_cast<int>(schedule.ops.size()); ++i) {
        auto& op = schedule.ops[static_cast<std::size_t>(i)];
        if (op.kind != schedule::OpKind::send && op.kind != schedule::OpKind::recv) continue;
        int& last = op.kind == schedule::OpKind::send ? last_send : last_recv;
        if (last >= 0) op.after.push_back({last, 0});
        last = i;
    }
}

class Proof {
  public:
    Proof(const Collective& collective, const place::Layout& layout, std::mt19937_64& random)
        : collective_(collective), layout_(layout), random_(random) {}

    /// For one root, in rank order and in any, in place and not. What cannot keep the order is refused.
    void expect(const std::string& recipe, int root) const {
        const auto parsed = compose::parse_recipe(recipe);
        for (const bool in_order : {false, true}) {
            if (in_order && !collective_.reduces) continue;
            // Blocks have no segments.
            if (parsed.segment_bytes > 0 && collective_.has_blocks() &&
                (collective_.down != algorithms::bcast_table ||
                 parsed.kind != compose::Recipe::Kind::hierarchical)) {
                EXPECT_THROW(static_cast<void>(compose::resolve(collective_, parsed, layout_, in_order)),
                             std::invalid_argument);
                continue;
            }
            compose::Resolved resolved;
            try {
                resolved = compose::resolve(collective_, parsed, layout_, in_order);
            } catch (const std::invalid_argument& error) {
                const std::string what = error.what();
                const bool keeps_order = in_order || collective_.in_order;
                EXPECT_TRUE((keeps_order && what.find("order") != std::string::npos) ||
                            (collective_.agreed != collectives::Agreed::block &&
                             what.find("blocks of one length") != std::string::npos))
                    << what;
                continue;
            }
            expect(resolved, root, collective_.input != collectives::Holds::nothing && any(2, random_) == 0);
        }
    }

  private:
    void expect(const compose::Resolved& resolved, int root, bool in_place) const {
        const auto question = any_question(resolved.recipe.segment_bytes > 0, root, in_place);
        std::vector<schedule::Schedule> schedules;
        auto claims = collectives::claims(collective_, question);
        const bool one_at_a_time = any(2, random_) == 0;
        for (int rank = 0; rank < layout_.size; ++rank) {
            schedules.push_back(
                compose::schedule_of(resolved, layout_, rank, root, in_place && is_in_place(rank, root)));
            if (one_at_a_time) take_one_at_a_time(schedules.back());
        }
        // A barrier has no input: what stands for that a rank has begun is in its output.
        if (collective_.idempotent) {
            for (auto& claim : claims) claim.output = claim.input;
        }
        const prove::Options options{.window = 1 + any(5, random_),
                                     .seed = random_(),
                                     .commutative = !resolved.in_order,
                                     .idempotent = collective_.idempotent,
                                     .groups = layout_.group_of};
        const auto failure = prove::prove(schedules, claims, options);
        EXPECT_FALSE(failure) << *failure << "\n  " << collective_.name << " by "
                              << compose::to_text(resolved.recipe) << (resolved.in_order ? " in order" : "")
                              << (one_at_a_time ? " one at a time" : "") << (in_place ? " in place, " : ", ")
                              << layout_.size << " ranks, root " << root << ", " << question.total
                              << " units in segments of " << question.segment;
    }
    /// Sizes, blocks of no length among them.
    [[nodiscard]] collectives::Question any_question(bool is_segmented, int root, bool in_place) const {
        const bool has_blocks = collective_.has_blocks();
        collectives::Question question{.size = layout_.size,
                                       .root = root,
                                       .total = any(collective_.idempotent ? 2
                                                    : has_blocks           ? 4
                                                                           : 41,
                                                    random_),
                                       .segment = is_segmented ? 1 + any(12, random_) : 0,
                                       .in_place = in_place};
        if (!has_blocks || collective_.agreed == collectives::Agreed::block) return question;
        const auto size = static_cast<std::size_t>(layout_.size);
        if (!collective_.is_exchange() || collective_.reduces) {
            for (std::size_t i = 0; i < size; ++i) question.lengths.push_back(any(4, random_));
        } else {
            question.lengths.resize(size * size);
            for (std::size_t s = 0; s < size; ++s) {
                for (std::size_t d = 0; d < size; ++d) {
                    // In place, as much goes from one rank to another as back.
                    question.lengths[s * size + d] =
                        in_place && d < s ? question.lengths[d * size + s] : any(3, random_);
                }
            }
        }
        question.scattered = collective_.agreed == collectives::Agreed::nothing && any(2, random_) == 0;
        return question;
    }
    [[nodiscard]] bool is_in_place(int rank, int root) const { return !collective_.rooted || rank == root; }

    const Collective& collective_;
    const place::Layout& layout_;
    std::mt19937_64& random_;
};

/// Calls check(layout, root) for groups of every size, with some of the roots.
template <class Check>
void on_every_size(const Collective& collective, int depth, std::mt19937_64& random, Check&& check) {
    for (int size = 1; size <= largest_group; ++size) {
        const auto layout = random_layout(size, depth, random);
        for (int root = 0; root < (collective.rooted ? size : 1); root += 1 + any(5, random))
            check(layout, root);
    }
}

std::string with_parameter(const Algorithm& row, int parameter) {
    return std::string(row.name) + (parameter > 0 ? "/" + std::to_string(parameter) : "");
}

TEST(EveryAlgorithm, IsProvedForEveryGroupSizeAndRoot) {
    std::mt19937_64 random(1);
    for (const Collective& collective : collectives::all()) {
        for (const Algorithm& row : collective.across()) {
            on_every_size(collective, 3, random, [&](const place::Layout& layout, int root) {
                const Proof proof(collective, layout, random);
                const std::string name(row.name);
                proof.expect(name, root);
                proof.expect(name + "@7", root);
                proof.expect("ordered(" + name + ")", root);
                proof.expect("ordered(" + name + ")@3", root);
                if (row.tree == nullptr) return;
                proof.expect("depth_first(" + name + ")", root);
                proof.expect("breadth_first(" + name + ")@3", root);
                proof.expect("longest_first(" + name + ")@2", root);
            });
        }
    }
}

TEST(EveryAlgorithm, IsProvedWhereMessagesWaitForOthersToEnd) {
    std::mt19937_64 random(7);
    const auto layout = random_layout(schedule::most_under_way + 9, 2, random);
    for (const Collective& collective : collectives::all()) {
        for (const Algorithm& row : collective.across())
            Proof(collective, layout, random)
                .expect(std::string(row.name), collective.rooted ? any(layout.size, random) : 0);
    }
}

TEST(EveryBroadcast, BringsEachByteOnce) {
    std::mt19937_64 random(6);
    const auto& bcast = collectives::named("bcast");
    for (const Algorithm& row : bcast.across()) {
        on_every_size(bcast, 1, random, [&](const place::Layout& layout, int root) {
            const std::string name(row.name);
            const auto resolved = compose::resolve(bcast, compose::parse_recipe(name), layout);
            for (int rank = 0; rank < layout.size; ++rank) {
                const auto schedule = compose::schedule_of(resolved, layout, rank, root);
                schedule::Extents extents;
                extents.total = 1000;
                schedule::Resolver resolver(schedule, extents);
                std::int64_t received = 0;
                for (const auto& op : schedule.ops) {
                    if (op.kind == schedule::OpKind::recv) received += resolver.length(op.target, false, 0);
                }
                EXPECT_EQ(received, rank == root ? 0 : extents.total)
                    << name << ", rank " << rank << " of " << layout.size << ", root " << root;
            }
        });
    }
}

TEST(EveryRadix, IsProved) {
    std::mt19937_64 random(2);
    for (const Collective& collective : collectives::all()) {
        for (const Algorithm& row : collective.across()) {
            if (row.default_parameter == 0) continue;
            for (int parameter = 2; parameter <= 9; ++parameter) {
                on_every_size(collective, 1, random, [&](const place::Layout& layout, int root) {
                    Proof(collective, layout, random).expect(with_parameter(row, parameter), root);
                });
            }
        }
    }
}

/// A row of a table, for one way or, where a collective goes both, now and then one for each.
std::string any_way(const Collective& collective, std::mt19937_64& random) {
    const auto name = [&](algorithms::Table table) {
        return std::string(table[random() % table.size()].name);
    };
    if (collective.up == nullptr) return name(collective.down());
    if (collective.down == nullptr) return name(collective.up());
    return name(collective.up()) + "+" + name(collective.down());
}

/// A row of the table across, its members now and then in an order of their own.
std::string any_across(const Collective& collective, std::mt19937_64& random) {
    const auto across = collective.across();
    const Algorithm& row = across[random() % across.size()];
    const std::string name(row.name);
    const int order = any(row.tree == nullptr ? 4 : 7, random);
    return order == 3   ? "ordered(" + name + ")"
           : order == 4 ? "depth_first(" + name + ")"
           : order == 5 ? "breadth_first(" + name + ")"
           : order == 6 ? "longest_first(" + name + ")"
                        : name;
}

/// Delays between hosts, which are whatever groups of ranks.
void add_any_delays(place::Layout& layout, std::mt19937_64& random) {
    std::vector<int> host_of;
    for (int rank = 0; rank < layout.size; ++rank) host_of.push_back(any(1 + layout.size / 2, random));
    const auto hosts = static_cast<std::size_t>(*std::max_element(host_of.begin(), host_of.end())) + 1;
    std::vector<float> hops;
    for (std::size_t pair = 0; pair < hosts * hosts; ++pair)
        hops.push_back(static_cast<float>(any(4, random)));
    place::set_delays(layout, host_of, place::DelayBy::hops, hops);
}

TEST(HierarchicalRecipes, AreProvedOnRandomTreesToAnyDepth) {
    std::mt19937_64 random(3);
    for (const Collective& collective : collectives::all()) {
        for (int size = 1; size <= largest_group; ++size) {
            for (int trial = 0; trial < 12; ++trial) {
                const int depth = 1 + any(5, random);
                // Operands keep the order of ranks only where groups are runs of them.
                auto layout = trial % 2 == 0 ? random_layout(size, depth, random)
                                             : random_layout_of_runs(size, depth, random);
                if (any(2, random) == 0) add_any_delays(layout, random);
                std::string parts;
                for (int l = 0; l < depth; ++l) {
                    if (l > 0 && any(4, random) == 0) continue;  // levels may be skipped
                    std::string way = l == 0 ? any_across(collective, random) : any_way(collective, random);
                    // The library's own takes no part on the way up.
                    if (l == depth - 1 && collective.up == nullptr && !collective.has_blocks() &&
                        any(3, random) == 0)
                        way = "native";
                    parts +=
                        (parts.empty() ? "" : ",") + layout.levels[static_cast<std::size_t>(l)] + "=" + way;
                }
                std::string recipe = "hierarchical(" + parts + ")";
                if (any(2, random) == 0) recipe += "@5";
                Proof(collective, layout, random).expect(recipe, collective.rooted ? any(size, random) : 0);
            }
        }
    }
}

TEST(OneNameForBothWays, MeansTheSameAsTwo) {
    std::mt19937_64 random(4);
    const auto layout = random_layout(12, 2, random);
    const auto& allreduce = collectives::named("allreduce");
    const auto ops = [&](const std::string& text) {
        const auto resolved = compose::resolve(allreduce, compose::parse_recipe(text), layout);
        return compose::schedule_of(resolved, layout, 5, 0).ops.size();
    };
    EXPECT_EQ(ops("hierarchical(machine=ring,level-1=binomial)"),
              ops("hierarchical(machine=ring,level-1=binomial+binomial)"));
}

TEST(SchedulesOfAllRanks, AreThoseOfEach) {
    std::mt19937_64 random(6);
    const auto messages = [](const schedule::Schedule& schedule) {
        std::vector<std::tuple<schedule::OpKind, int, int>> found;
        for (const auto& op : schedule.ops) found.emplace_back(op.kind, op.peer, op.stage);
        return found;
    };
    for (const std::string recipe : {"ring", "ordered(ring)", "depth_first(knomial/4)",
                                     "longest_first(binomial)", "hierarchical(machine=ring,level-1=flat)"}) {
        const auto& collective =
            collectives::named(recipe.find("ring") < recipe.size() ? "allgather" : "bcast");
        for (int trial = 0; trial < 10; ++trial) {
            const auto layout = random_layout(2 + static_cast<int>(random() % 20), 2, random);
            const int root = collective.rooted ? layout.size - 1 : 0;
            const auto resolved = compose::resolve(collective, compose::parse_recipe(recipe), layout);
            int rank = 0;
            compose::each_schedule(resolved, layout, root, [&](const schedule::Schedule& one) {
                EXPECT_EQ(messages(one), messages(compose::schedule_of(resolved, layout, rank, root)));
                ++rank;
            });
            EXPECT_EQ(rank, layout.size);
        }
    }
}

TEST(AScheduleOfASegmentedBroadcast, DoesNotGrowWithTheMessage) {
    std::mt19937_64 random(5);
    const auto layout = random_layout(16, 2, random);
    const auto resolved =
        compose::resolve(collectives::named("bcast"),
                         compose::parse_recipe("hierarchical(machine=chain,level-1=binary)@4096"), layout);
    EXPECT_LE(compose::schedule_of(resolved, layout, 0, 0).ops.size(), 4U);
}

}  // namespace
}  // namespace isochrone::tests
