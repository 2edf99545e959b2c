// SPDX-License-Identifier: BSD-3-Clause
#include "probe/stream.hpp"

#include <array>
#include <cstddef>
#include <vector>

#include "clock/clock.hpp"
#include "comm/check.hpp"

namespace isochrone::mpi::probe {

namespace {

constexpr int stream_tag = 32'020;

constexpr std::size_t most_under_way = 4;

/// Calls start(at, bytes, request) for each message, when there is room for it, and waits for all. Those
/// under way have parts of the buffer of their own.
template <class Start>
void each_message(const std::vector<char>& buffer, int messages, Start&& start) {
    const std::size_t bytes = buffer.size() / most_under_way;
    std::array<MPI_Request, most_under_way> under_way{};
    under_way.fill(MPI_REQUEST_NULL);
    for (int message = 0; message < messages; ++message) {
        const std::size_t slot = static_cast<std::size_t>(message) % most_under_way;
        comm::check(MPI_Wait(&under_way[slot], MPI_STATUS_IGNORE), "MPI_Wait");
        start(slot * bytes, static_cast<int>(bytes), under_way[slot]);
    }
    comm::check(MPI_Waitall(static_cast<int>(most_under_way), under_way.data(), MPI_STATUSES_IGNORE),
                "MPI_Waitall");
}

}  // namespace

std::vector<char> stream_buffer(std::int64_t bytes) {
    return std::vector<char>(static_cast<std::size_t>(bytes) * most_under_way, '\1');
}

double send_stream(MPI_Comm comm, int receiver, const std::vector<char>& buffer, int messages) {
    const double before_s = clock::now();
    each_message(buffer, messages, [&](std::size_t at, int bytes, MPI_Request& request) {
        comm::check(MPI_Isend(buffer.data() + at, bytes, MPI_BYTE, receiver, stream_tag, comm, &request),
                    "MPI_Isend");
    });
    comm::check(MPI_Recv(nullptr, 0, MPI_BYTE, receiver, stream_tag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
    return clock::now() - before_s;
}

void receive_stream(MPI_Comm comm, int sender, std::vector<char>& buffer, int messages) {
    each_message(buffer, messages, [&](std::size_t at, int bytes, MPI_Request& request) {
        comm::check(MPI_Irecv(buffer.data() + at, bytes, MPI_BYTE, sender, stream_tag, comm, &request),
                    "MPI_Irecv");
    });
    comm::check(MPI_Send(nullptr, 0, MPI_BYTE, sender, stream_tag, comm), "MPI_Send");
}

}  // namespace isochrone::mpi::probe
