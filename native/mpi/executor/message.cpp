// SPDX-License-Identifier: BSD-3-Clause
#include "executor/message.hpp"

#include <algorithm>

#include "comm/check.hpp"

namespace isochrone::mpi::executor {

Message::Message(void* base, const std::vector<core::schedule::Range>& ranges, std::int64_t unit_bytes) {
    // Counts are ints: a longer range is cut into pieces that fit.
    constexpr std::int64_t largest_piece = std::int64_t{1} << 30;
    char* bytes = static_cast<char*>(base);
    if (ranges.empty()) {
        address_ = bytes;
        return;
    }
    if (ranges.size() == 1 && ranges.front().length * unit_bytes <= largest_piece) {
        address_ = bytes + ranges.front().offset * unit_bytes;
        count_ = static_cast<int>(ranges.front().length * unit_bytes);
        return;
    }
    std::vector<int> lengths;
    std::vector<MPI_Aint> displacements;
    for (const auto& range : ranges) {
        const std::int64_t end = (range.offset + range.length) * unit_bytes;
        for (std::int64_t begin = range.offset * unit_bytes; begin < end; begin += largest_piece) {
            displacements.push_back(static_cast<MPI_Aint>(begin));
            lengths.push_back(static_cast<int>(std::min(end - begin, largest_piece)));
        }
    }
    address_ = bytes;
    count_ = 1;
    comm::check(PMPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(),
                                          displacements.data(), MPI_BYTE, &type_),
                "MPI_Type_create_hindexed");
    comm::check(PMPI_Type_commit(&type_), "MPI_Type_commit");
}

Message::~Message() {
    if (type_ != MPI_BYTE) PMPI_Type_free(&type_);
}

}  // namespace isochrone::mpi::executor
