// SPDX-License-Identifier: BSD-3-Clause
#include "record/sizes.hpp"

#include <mpi.h>

#include "comm/check.hpp"

namespace isochrone::mpi::record {
namespace {

using comm::check;
using core::collectives::Agreed;
using core::collectives::Collective;
using interpose::Part;
using preload::handle;
using preload::word;

std::int64_t count_at(const Part& part, int index, bool large) {
    if (part.counts == nullptr) return part.count;
    return large ? static_cast<const std::int64_t*>(part.counts)[index]
                 : static_cast<const int*>(part.counts)[index];
}

}  // namespace

std::int64_t bytes_of(std::int64_t count, preload::Word type) {
    if (count <= 0) return 0;
    MPI_Count size = 0;
    check(PMPI_Type_size_x(handle<MPI_Datatype>(type), &size), "MPI_Type_size");
    std::int64_t bytes = 0;
    if (size < 0 || __builtin_mul_overflow(size, count, &bytes)) return 0;
    return bytes;
}

std::int64_t block_bytes(const Part& part, int index, bool large) {
    const preload::Word type =
        part.types == nullptr ? part.type : word(static_cast<const MPI_Datatype*>(part.types)[index]);
    return bytes_of(count_at(part, index, large), type);
}

std::int64_t agreed_bytes(const interpose::Call& call, int size) {
    const Collective& collective = *call.collective;
    if (!collective.has_data) return 0;
    if (!collective.has_blocks()) return bytes_of(call.count, call.type);
    if (collective.agreed == Agreed::blocks) {
        const Part& part = collective.reduces ? call.send : call.receive;
        std::int64_t elements = 0;
        for (int rank = 0; rank < size; ++rank) elements += count_at(part, rank, call.large);
        return bytes_of(elements, part.type);
    }
    if (collective.reduces) return bytes_of(call.send.count, call.send.type);
    // The side of the rank's own block, unless its data are in place.
    const bool gives = collective.input == core::collectives::Holds::own_block ||
                       collective.output == core::collectives::Holds::all_blocks;
    const bool in_place = (gives ? call.input : call.output) == MPI_IN_PLACE;
    const Part& part = gives != in_place ? call.send : call.receive;
    return bytes_of(part.count, part.type);
}

}  // namespace isochrone::mpi::record
