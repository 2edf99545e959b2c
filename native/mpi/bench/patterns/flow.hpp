// SPDX-License-Identifier: BSD-3-Clause
//
// Rounds of a point-to-point pattern over MPI, on one rank: one function for each flow of messages.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "patterns/pattern.hpp"

namespace isochrone::mpi::bench::patterns {

/// What one rank does in a round. Messages of a rank have the number of its peer as tag, so that several to
/// one rank are told apart.
struct Round {
    MPI_Comm comm = MPI_COMM_NULL;
    core::patterns::Peers peers = {};
    int bytes = 0;   ///< of a message
    int window = 1;  ///< messages to each peer
};

/// Of answers; no rank has so many messages to send.
inline constexpr int answer_tag = 1 << 14;

/// What is sent is, peer by peer, in `input`; what comes is, message by message of a window and in each peer
/// by peer, in `output`. Each throws comm::Error if a call fails.
void ping_pong(const Round& round, int rounds, const std::byte* input, std::byte* output);
void exchange(const Round& round, int rounds, const std::byte* input, std::byte* output);
void stream(const Round& round, int rounds, const std::byte* input, std::byte* output);

/// Starts `round.window` messages from each peer, and then as many to each.
void start(const Round& round, const std::byte* input, std::byte* output, std::vector<MPI_Request>& requests);
void wait(std::vector<MPI_Request>& requests);

}  // namespace isochrone::mpi::bench::patterns
