// SPDX-License-Identifier: BSD-3-Clause
#include "bench/patterns/flow.hpp"
#include "comm/check.hpp"

namespace isochrone::mpi::bench::patterns {

void ping_pong(const Round& round, int rounds, const std::byte* input, std::byte* output) {
    if (round.peers.to.empty()) return;
    const int peer = round.peers.to.front();
    const bool is_first = comm::rank_in(round.comm) < peer;
    const auto send = [&] {
        comm::check(PMPI_Send(input, round.bytes, MPI_BYTE, peer, 0, round.comm), "MPI_Send");
    };
    const auto receive = [&] {
        comm::check(PMPI_Recv(output, round.bytes, MPI_BYTE, peer, 0, round.comm, MPI_STATUS_IGNORE),
                    "MPI_Recv");
    };
    for (int i = 0; i < rounds; ++i) {
        if (is_first) send();
        receive();
        if (!is_first) send();
    }
}

}  // namespace isochrone::mpi::bench::patterns
