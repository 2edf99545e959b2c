// SPDX-License-Identifier: BSD-3-Clause
#include "bench/operands.hpp"

namespace isochrone::mpi::bench {

namespace {

/// Bytes of what a rank has, of a size that all know alike.
std::int64_t bytes_of(core::collectives::Holds holds, std::int64_t bytes, int size) {
    using core::collectives::Holds;
    return holds == Holds::nothing ? 0 : holds == Holds::all_blocks ? bytes * size : bytes;
}

}  // namespace

Operands operands_of(const Case& one, int rank, int size) {
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
    operands.input_bytes = operands.has_input ? bytes_of(collective.input, one.bytes, size) : 0;
    operands.output_bytes = operands.has_output ? bytes_of(collective.output, one.bytes, size) : 0;
    operands.sizes = core::collectives::extents(
        collective, {.size = size, .root = one.root, .total = operands.count}, rank);
    return operands;
}

}  // namespace isochrone::mpi::bench
