// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/claims.hpp"

namespace isochrone::core::collectives {
namespace {

using prove::Claim;
using prove::Contents;
using prove::Memory;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

Memory contribution(int rank, std::int64_t total) {
    Memory memory;
    for (std::int64_t i = 0; i < total; ++i) memory.push_back({{rank, i}});
    return memory;
}

Memory combined(int size, std::int64_t total) {
    Memory memory;
    for (std::int64_t i = 0; i < total; ++i) {
        Contents all;
        for (int rank = 0; rank < size; ++rank) all.push_back({rank, i});
        memory.push_back(std::move(all));
    }
    return memory;
}

/// Calls fill(rank, claim) for each rank.
template <class Fill>
std::vector<Claim> for_each_rank(const Question& question, Fill&& fill) {
    std::vector<Claim> claims(at(question.size));
    for (int rank = 0; rank < question.size; ++rank) fill(rank, claims[at(rank)]);
    return claims;
}

/// The block that goes from one rank to another. Where the source has one block for all, its destination is
/// itself.
Memory block(const Question& question, int source, int destination) {
    // Units of a rank's blocks for different ranks have different numbers.
    constexpr std::int64_t apart = 1 << 20;
    Memory memory;
    for (std::int64_t i = 0; i < question.length(source, destination); ++i)
        memory.push_back({{source, destination * apart + i}});
    return memory;
}

void append(Memory& memory, const Memory& more) { memory.insert(memory.end(), more.begin(), more.end()); }

/// The blocks of all ranks as they are to be found in an output: one after the other, or the last first and
/// with a gap behind each, which may hold anything.
template <class BlockOf>
Memory laid_out(const Question& question, BlockOf&& block_of) {
    Memory memory;
    for (int i = 0; i < question.size; ++i) {
        append(memory, block_of(question.scattered ? question.size - 1 - i : i));
        if (question.scattered) memory.emplace_back();
    }
    return memory;
}

/// Gives a rank its contribution, and room for the result. In place the one is where the other will be.
void reduces_into_output(const Question& question, int rank, Claim& claim) {
    (question.in_place ? claim.output : claim.input) = contribution(rank, question.total);
    claim.output.resize(at(question.total));
    claim.expected = combined(question.size, question.total);
}

}  // namespace

std::int64_t Question::length(int source, int destination) const {
    if (lengths.empty()) {
        const int turn = uneven ? (source + destination) % 3 : 0;
        return turn == 0 ? total : turn == 1 ? total / 2 : total + (total + 1) / 2;
    }
    if (lengths.size() == at(size)) return lengths[at(source)];
    return lengths[at(source) * at(size) + at(destination)];
}

std::int64_t block_length(const Collective& collective, const Question& question, int rank, int other,
                          bool is_input) {
    if (!collective.is_exchange()) return question.length(other, other);
    return is_input ? question.length(rank, other) : question.length(other, rank);
}

schedule::Extents extents(const Collective& collective, const Question& question, int rank) {
    schedule::Extents result{.total = question.total,
                             .segment = question.segment,
                             .counts = {},
                             .input_displacements = {},
                             .output_displacements = {}};
    if (!collective.has_blocks() && collective.input != Holds::own_block) return result;
    const bool is_root = !collective.rooted || rank == question.root;
    // The length of the blocks of all, as one message.
    result.total = 0;
    for (int other = 0; other < question.size; ++other) result.total += question.length(other, other);
    if (collective.agreed == Agreed::block) {
        result.counts = {question.total};
        return result;
    }
    const auto add = [&](Holds holds, bool is_input) {
        if (holds == Holds::own_block) {
            result.counts.push_back(question.length(rank, rank));
        } else if (holds == Holds::all_blocks) {
            for (int other = 0; other < question.size; ++other)
                result.counts.push_back(block_length(collective, question, rank, other, is_input));
        }
    };
    if (collective.has_input(is_root)) add(collective.input, true);
    if (collective.has_output(is_root)) add(collective.output, false);
    if (!question.scattered || collective.output != Holds::all_blocks || !collective.has_output(is_root))
        return result;
    result.output_displacements.resize(at(question.size));
    std::int64_t next = 0;
    for (int other = question.size - 1; other >= 0; --other) {
        result.output_displacements[at(other)] = next;
        next += 1 + block_length(collective, question, rank, other, false);
    }
    return result;
}

std::vector<Claim> claims(const Collective& collective, const Question& question) {
    auto result = collective.contents(question);
    for (int rank = 0; rank < question.size; ++rank)
        result[at(rank)].extents = extents(collective, question, rank);
    return result;
}

std::vector<Claim> bcast_contents(const Question& question) {
    return for_each_rank(question, [&](int rank, Claim& claim) {
        claim.expected = contribution(question.root, question.total);
        if (rank == question.root) claim.output = claim.expected;
        claim.output.resize(at(question.total));
    });
}

std::vector<Claim> reduce_contents(const Question& question) {
    return for_each_rank(question, [&](int rank, Claim& claim) {
        if (rank == question.root) {
            reduces_into_output(question, rank, claim);
        } else {
            // Nobody else has an output, nor may be in place.
            claim.input = contribution(rank, question.total);
        }
    });
}

std::vector<Claim> allreduce_contents(const Question& question) {
    return for_each_rank(question,
                         [&](int rank, Claim& claim) { reduces_into_output(question, rank, claim); });
}

std::vector<Claim> gather_contents(const Question& question) {
    return for_each_rank(question, [&](int rank, Claim& claim) {
        if (rank != question.root) {
            claim.input = block(question, rank, rank);
            return;
        }
        claim.expected = laid_out(question, [&](int other) { return block(question, other, other); });
        if (!question.in_place) claim.input = block(question, rank, rank);
        claim.output = laid_out(question, [&](int other) {
            return question.in_place && other == rank ? block(question, rank, rank)
                                                      : Memory(at(question.length(other, other)));
        });
    });
}

std::vector<Claim> scatter_contents(const Question& question) {
    return for_each_rank(question, [&](int rank, Claim& claim) {
        const bool is_root = rank == question.root;
        for (int other = 0; is_root && other < question.size; ++other) {
            // What goes to another rank is of that length; all come from the root.
            Memory units = block(question, other, other);
            for (auto& unit : units) unit.front().rank = question.root;
            append(claim.input, units);
        }
        if (is_root && question.in_place) return;  // its own block stays where it is
        claim.expected = block(question, rank, rank);
        for (auto& unit : claim.expected) unit.front().rank = question.root;
        claim.output.resize(claim.expected.size());
    });
}

std::vector<Claim> allgather_contents(const Question& question) {
    return for_each_rank(question, [&](int rank, Claim& claim) {
        if (!question.in_place) claim.input = block(question, rank, rank);
        for (int other = 0; other < question.size; ++other) {
            const Memory units = block(question, other, other);
            append(claim.expected, units);
            append(claim.output, question.in_place && other == rank ? units : Memory(units.size()));
        }
    });
}

std::vector<Claim> alltoall_contents(const Question& question) {
    return for_each_rank(question, [&](int rank, Claim& claim) {
        claim.expected = laid_out(question, [&](int other) { return block(question, other, rank); });
        if (question.in_place) {
            // What goes to a rank is as long as what comes from it, and where that is to be.
            claim.output = laid_out(question, [&](int other) { return block(question, rank, other); });
            return;
        }
        for (int other = 0; other < question.size; ++other) append(claim.input, block(question, rank, other));
        claim.output.resize(claim.expected.size());
    });
}

std::vector<Claim> reduce_scatter_contents(const Question& question) {
    std::int64_t total = 0;
    for (int rank = 0; rank < question.size; ++rank) total += question.length(rank, rank);
    const Memory all = combined(question.size, total);
    std::int64_t begin = 0;
    return for_each_rank(question, [&](int rank, Claim& claim) {
        const std::int64_t length = question.length(rank, rank);
        claim.expected.assign(all.begin() + begin, all.begin() + begin + length);
        begin += length;
        if (question.in_place) {
            claim.output = contribution(rank, total);
            claim.expected.resize(at(total));
        } else {
            claim.input = contribution(rank, total);
            claim.output.resize(at(length));
        }
    });
}

std::vector<Claim> scan_contents(const Question& question) {
    return for_each_rank(question, [&](int rank, Claim& claim) {
        reduces_into_output(question, rank, claim);
        claim.expected = combined(rank + 1, question.total);
    });
}

std::vector<Claim> exscan_contents(const Question& question) {
    return for_each_rank(question, [&](int rank, Claim& claim) {
        reduces_into_output(question, rank, claim);
        claim.expected = combined(rank, question.total);  // of rank 0: anything
    });
}

}  // namespace isochrone::core::collectives
