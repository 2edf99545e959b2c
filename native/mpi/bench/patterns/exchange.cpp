// SPDX-License-Identifier: BSD-3-Clause
#include "bench/patterns/flow.hpp"
#include "comm/check.hpp"

namespace isochrone::mpi::bench::patterns {

void start(const Round& round, const std::byte* input, std::byte* output,
           std::vector<MPI_Request>& requests) {
    for (int i = 0; i < round.window; ++i) {
        for (const auto& from : round.peers.from) {
            comm::check(PMPI_Irecv(output, round.bytes, MPI_BYTE, from.rank, from.slot, round.comm,
                                   &requests.emplace_back()),
                        "MPI_Irecv");
            output += round.bytes;
        }
    }
    for (int i = 0; i < round.window; ++i) {
        const std::byte* message = input;
        int slot = 0;
        for (const int to : round.peers.to) {
            comm::check(
                PMPI_Isend(message, round.bytes, MPI_BYTE, to, slot++, round.comm, &requests.emplace_back()),
                "MPI_Isend");
            message += round.bytes;
        }
    }
}

void wait(std::vector<MPI_Request>& requests) {
    comm::check(PMPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
                "MPI_Waitall");
    requests.clear();
}

void exchange(const Round& round, int rounds, const std::byte* input, std::byte* output) {
    std::vector<MPI_Request> requests;
    requests.reserve(round.peers.from.size() + round.peers.to.size());
    for (int i = 0; i < rounds; ++i) {
        start(round, input, output, requests);
        wait(requests);
    }
}

}  // namespace isochrone::mpi::bench::patterns
