// SPDX-License-Identifier: BSD-3-Clause
#include "bench/operands.hpp"

namespace isochrone::mpi::bench {

namespace {

using core::collectives::Collective;
using core::collectives::Holds;
using core::collectives::Question;

/// The blocks of what a rank gives or gets.
Blocks blocks_of(const Collective& collective, const Question& question, Holds holds, int rank,
                 bool is_input) {
    Blocks blocks;
    if (holds == Holds::nothing) return blocks;
    const bool has_all = holds == Holds::all_blocks;
    for (int other = has_all ? 0 : rank; other < (has_all ? question.size : rank + 1); ++other) {
        blocks.displacements.push_back(static_cast<int>(blocks.length));
        blocks.counts.push_back(
            static_cast<int>(core::collectives::block_length(collective, question, rank, other, is_input)));
        blocks.length += blocks.counts.back();
    }
    return blocks;
}

/// Of a message to, or from, each peer: as many from each as are under way at once.
Operands operands_of_pattern(const Case& one, int rank, int size) {
    const auto peers = one.pattern->peers(rank, size, one.root);
    Operands operands;
    operands.has_input = !peers.to.empty();
    operands.has_output = !peers.from.empty();
    operands.count = one.bytes;
    operands.input_bytes = static_cast<std::int64_t>(peers.to.size()) * one.bytes;
    operands.output_bytes = static_cast<std::int64_t>(peers.from.size()) * one.window * one.bytes;
    return operands;
}

}  // namespace

Operands operands_of(const Case& one, int rank, int size) {
    if (one.pattern != nullptr) return operands_of_pattern(one, rank, size);
    const auto& collective = *one.collective;
    const bool is_root = !collective.rooted || rank == one.root;
    Operands operands;
    if (collective.reduces) {
        const bool is_wide = one.bytes % static_cast<std::int64_t>(sizeof(std::uint64_t)) == 0;
        operands.type = is_wide ? MPI_UINT64_T : MPI_UINT8_T;
        operands.element_bytes = is_wide ? static_cast<std::int64_t>(sizeof(std::uint64_t)) : 1;
        operands.op = MPI_SUM;
    }
    operands.count = one.bytes / operands.element_bytes;
    operands.has_input = collective.has_input(is_root);
    operands.has_output = collective.has_output(is_root);
    const Question question{
        .size = size, .root = one.root, .total = operands.count, .uneven = collective.has_uneven_blocks()};
    const auto blocks = [&](Holds holds, bool is_input) {
        return blocks_of(collective, question, holds, rank, is_input);
    };
    if (operands.has_input) operands.input = blocks(collective.input, true);
    if (operands.has_output) operands.output = blocks(collective.output, false);
    operands.input_bytes = operands.input.length * operands.element_bytes;
    operands.output_bytes = operands.output.length * operands.element_bytes;
    operands.sizes = core::collectives::extents(collective, question, rank);
    return operands;
}

}  // namespace isochrone::mpi::bench
