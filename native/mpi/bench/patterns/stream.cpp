// SPDX-License-Identifier: BSD-3-Clause
#include "bench/patterns/flow.hpp"
#include "comm/check.hpp"

namespace isochrone::mpi::bench::patterns {

void stream(const Round& round, int rounds, const std::byte* input, std::byte* output) {
    const auto& [to, from] = round.peers;
    std::vector<MPI_Request> requests;
    requests.reserve((from.size() + to.size()) * static_cast<std::size_t>(round.window));
    for (int i = 0; i < rounds; ++i) {
        start(round, input, output, requests);
        wait(requests);
        // Without an answer a sender would count what has left it, and not what has come.
        for (const int peer : to) {
            comm::check(
                PMPI_Irecv(nullptr, 0, MPI_BYTE, peer, answer_tag, round.comm, &requests.emplace_back()),
                "MPI_Irecv");
        }
        for (const auto& peer : from) {
            comm::check(PMPI_Send(nullptr, 0, MPI_BYTE, peer.rank, answer_tag, round.comm), "MPI_Send");
        }
        wait(requests);
    }
}

}  // namespace isochrone::mpi::bench::patterns
