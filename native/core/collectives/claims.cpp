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

template <class Fill>
std::vector<Claim> for_each_rank(const Question& question, Fill&& fill) {
    std::vector<Claim> claims(at(question.size));
    for (int rank = 0; rank < question.size; ++rank) {
        Claim& claim = claims[at(rank)];
        claim.extents.total = question.total;
        claim.extents.segment = question.segment;
        fill(rank, claim);
    }
    return claims;
}

/// Gives a rank its contribution, and room for the result. In place the one is where the other will be.
void reduces_into_output(const Question& question, int rank, Claim& claim) {
    (question.in_place ? claim.output : claim.input) = contribution(rank, question.total);
    claim.output.resize(at(question.total));
    claim.expected = combined(question.size, question.total);
}

}  // namespace

std::vector<Claim> bcast_claims(const Question& question) {
    return for_each_rank(question, [&](int rank, Claim& claim) {
        claim.expected = contribution(question.root, question.total);
        if (rank == question.root) claim.output = claim.expected;
        claim.output.resize(at(question.total));
    });
}

std::vector<Claim> reduce_claims(const Question& question) {
    return for_each_rank(question, [&](int rank, Claim& claim) {
        if (rank == question.root) {
            reduces_into_output(question, rank, claim);
        } else {
            // Nobody else has an output, nor may be in place.
            claim.input = contribution(rank, question.total);
        }
    });
}

std::vector<Claim> allreduce_claims(const Question& question) {
    return for_each_rank(question,
                         [&](int rank, Claim& claim) { reduces_into_output(question, rank, claim); });
}

}  // namespace isochrone::core::collectives
