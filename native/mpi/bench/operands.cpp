// SPDX-License-Identifier: BSD-3-Clause
#include "bench/operands.hpp"

namespace isochrone::mpi::bench {

Operands operands_of(const Case& one, int rank) {
    const auto& collective = *one.collective;
    Operands operands;
    if (collective.reduces) {
        const bool is_wide = one.bytes % static_cast<std::int64_t>(sizeof(std::uint64_t)) == 0;
        operands.type = is_wide ? MPI_UINT64_T : MPI_UINT8_T;
        operands.element_bytes = is_wide ? static_cast<std::int64_t>(sizeof(std::uint64_t)) : 1;
        operands.op = MPI_SUM;
    }
    operands.count = one.bytes / operands.element_bytes;
    // All have one message: where nothing is reduced it is passed on from where it lies, else each rank gives
    // one of its own, and only the root of a rooted collective gets the result.
    operands.has_input = collective.reduces;
    operands.has_output = !collective.reduces || !collective.rooted || rank == one.root;
    operands.input_bytes = operands.has_input ? one.bytes : 0;
    operands.output_bytes = operands.has_output ? one.bytes : 0;
    return operands;
}

}  // namespace isochrone::mpi::bench
