// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/datatype.hpp"

#include <algorithm>
#include <limits>

#include "comm/check.hpp"

namespace isochrone::mpi::interpose {
namespace {

using comm::check;

/// Whether elements lie in memory one after the other, in the order in which they are packed. Size and extent
/// alone do not tell: an indexed type may permute its blocks.
bool is_plain(MPI_Datatype type) {
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = 0;
    check(PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner), "MPI_Type_get_envelope");
    if (combiner == MPI_COMBINER_NAMED) {
        int size = 0;
        MPI_Aint lower = 0;
        MPI_Aint extent = 0;
        check(PMPI_Type_size(type, &size), "MPI_Type_size");
        check(PMPI_Type_get_extent(type, &lower, &extent), "MPI_Type_get_extent");
        return lower == 0 && extent == size;
    }
    if (combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP) return false;
    int count = 0;
    MPI_Datatype inner = MPI_DATATYPE_NULL;
    check(PMPI_Type_get_contents(type, integers, addresses, types, &count, nullptr, &inner),
          "MPI_Type_get_contents");
    const bool plain = is_plain(inner);
    check(PMPI_Type_get_envelope(inner, &integers, &addresses, &types, &combiner), "MPI_Type_get_envelope");
    if (combiner != MPI_COMBINER_NAMED) check(PMPI_Type_free(&inner), "MPI_Type_free");
    return plain;
}

/// MPI_Pack counts in int: larger messages are packed in parts.
template <class Part>
void in_parts(int count, MPI_Datatype type, Part&& part) {
    const std::int64_t each = data_bytes(1, type);
    const auto most = static_cast<int>(
        std::max<std::int64_t>(1, (std::int64_t{1} << 30) / std::max<std::int64_t>(each, 1)));
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    check(PMPI_Type_get_extent(type, &lower, &extent), "MPI_Type_get_extent");
    for (int first = 0; first < count; first += most) {
        const int here = std::min(most, count - first);
        part(extent * first, here, first * each, static_cast<int>(here * each));
        if (first > std::numeric_limits<int>::max() - most) break;
    }
}

}  // namespace

std::int64_t data_bytes(int count, MPI_Datatype type) {
    MPI_Count size = 0;
    check(PMPI_Type_size_x(type, &size), "MPI_Type_size_x");
    return static_cast<std::int64_t>(size) * count;
}

Packed::Packed(void* buffer, int count, MPI_Datatype type, MPI_Comm comm, bool fill)
    : buffer_(buffer), count_(count), type_(type), comm_(comm) {
    if (is_plain(type)) {
        direct_ = buffer;
        return;
    }
    copy_.resize(static_cast<std::size_t>(data_bytes(count, type)));
    if (!fill) return;
    in_parts(count_, type_, [&](MPI_Aint at, int here, std::int64_t offset, int bytes) {
        int position = 0;
        check(PMPI_Pack(static_cast<char*>(buffer_) + at, here, type_, copy_.data() + offset, bytes,
                        &position, comm_),
              "MPI_Pack");
    });
}

void Packed::unpack() {
    if (copy_.empty()) return;
    in_parts(count_, type_, [&](MPI_Aint at, int here, std::int64_t offset, int bytes) {
        int position = 0;
        check(PMPI_Unpack(copy_.data() + offset, bytes, &position, static_cast<char*>(buffer_) + at, here,
                          type_, comm_),
              "MPI_Unpack");
    });
}

}  // namespace isochrone::mpi::interpose
