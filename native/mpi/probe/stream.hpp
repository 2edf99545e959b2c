// SPDX-License-Identifier: BSD-3-Clause
//
// Many messages from one rank to another, a few of them under way at once, as a link that is shared is
// loaded.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace isochrone::mpi::probe {

/// For messages of so many bytes; to be had before anyone is waited for, as filling it takes time.
[[nodiscard]] std::vector<char> stream_buffer(std::int64_t bytes);

/// Sends so many messages; returns the time from the first byte to the receiver's word that all of it is
/// there. The receiver must call receive_stream() with a buffer of as many bytes and as many messages.
[[nodiscard]] double send_stream(MPI_Comm comm, int receiver, const std::vector<char>& buffer, int messages);
void receive_stream(MPI_Comm comm, int sender, std::vector<char>& buffer, int messages);

}  // namespace isochrone::mpi::probe
