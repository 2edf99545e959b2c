// SPDX-License-Identifier: BSD-3-Clause
#include "bench/party.hpp"

#include <algorithm>

#include "comm/check.hpp"

namespace isochrone::mpi::bench {

Party::Party(MPI_Comm all, const std::vector<int>& members, const clock::Occupancy& occupancy,
             const core::place::Layout& layout, const core::select::Plan* plan)
    : occupancy_(occupancy) {
    const int rank = comm::rank_in(all);
    if (members.empty()) {
        comm_ = all;
    } else {
        const bool is_member = std::binary_search(members.begin(), members.end(), rank);
        comm::check(MPI_Comm_split(all, is_member ? 0 : MPI_UNDEFINED, rank, &comm_), "MPI_Comm_split");
        owns_comm_ = is_member;
        if (is_member) comm::return_errors(comm_);
    }
    if (!takes_part()) return;
    rank_ = comm::rank_in(comm_);
    size_ = comm::size_of(comm_);
    library_ = std::make_unique<Library>(comm_);
    const auto own = members.empty() ? layout : layout.restricted_to(members);
    communicator_ = std::make_unique<executor::Communicator>(comm_, own);
    if (plan == nullptr) return;
    dispatcher_ = std::make_unique<executor::Dispatcher>(own, *plan, [comm = comm_, own] {
        return executor::Dispatcher::Opened{std::make_unique<executor::Communicator>(comm, own), ""};
    });
}

Party::~Party() {
    dispatcher_.reset();
    communicator_.reset();
    library_.reset();
    if (owns_comm_) PMPI_Comm_free(&comm_);
}

}  // namespace isochrone::mpi::bench
