// SPDX-License-Identifier: BSD-3-Clause
#include "probe/stream.hpp"

#include <array>
#include <cstddef>

#include "clock/clock.hpp"
#include "comm/check.hpp"

namespace isochrone::mpi::probe {

namespace {

constexpr int stream_tag = 32'020;

/// Calls start(request) for each message, when there is room for it, and waits for all.
template <class Start>
void each_message(int messages, Start&& start) {
    std::array<MPI_Request, 4> under_way{};
    under_way.fill(MPI_REQUEST_NULL);
    for (int message = 0; message < messages; ++message) {
        MPI_Request& request = under_way[static_cast<std::size_t>(message) % under_way.size()];
        comm::check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
        start(request);
    }
    comm::check(MPI_Waitall(static_cast<int>(under_way.size()), under_way.data(), MPI_STATUSES_IGNORE),
                "MPI_Waitall");
}

}  // namespace

double send_stream(MPI_Comm comm, int receiver, const std::vector<char>& buffer, int messages) {
    const double before_s = clock::now();
    each_message(messages, [&](MPI_Request& request) {
        comm::check(MPI_Isend(buffer.data(), static_cast<int>(buffer.size()), MPI_BYTE, receiver, stream_tag,
                              comm, &request),
                    "MPI_Isend");
    });
    comm::check(MPI_Recv(nullptr, 0, MPI_BYTE, receiver, stream_tag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
    return clock::now() - before_s;
}

void receive_stream(MPI_Comm comm, int sender, std::vector<char>& buffer, int messages) {
    each_message(messages, [&](MPI_Request& request) {
        comm::check(MPI_Irecv(buffer.data(), static_cast<int>(buffer.size()), MPI_BYTE, sender, stream_tag,
                              comm, &request),
                    "MPI_Irecv");
    });
    comm::check(MPI_Send(nullptr, 0, MPI_BYTE, sender, stream_tag, comm), "MPI_Send");
}

}  // namespace isochrone::mpi::probe
