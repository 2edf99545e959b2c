// SPDX-License-Identifier: BSD-3-Clause
//
// All that one rank has counted.
//
// Two tables. Rows hold what this rank sends to another, or gets from it one-sided. Calls hold collectives
// whose sizes all ranks know alike: only the first rank of the communicator counts them, and how they become
// messages is left to who reads them. Those whose sizes only each rank itself knows, such as alltoallv, are
// rows too, as they are sent directly, marked by the collective's number.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "comm/place.hpp"
#include "interpose/call.hpp"
#include "record/counts.hpp"
#include "record/message.hpp"
#include "record/peers.hpp"
#include "record/world.hpp"

namespace isochrone::mpi::record {

using interpose::Call;

/// What a rank's row says, as it travels to rank 0.
struct Row {
    std::int64_t phase = 1;
    std::int64_t collective = -1;  ///< number in the table of collectives; -1: a message of the program's own
    std::int64_t source = 0;
    std::int64_t target = 0;
    std::int64_t messages = 0;
    std::int64_t bytes = 0;
};

/// Calls of one collective on one group.
struct Calls {
    std::int64_t phase = 1;
    std::int64_t collective = 0;
    std::int64_t group = 0;
    std::int64_t root = 0;  ///< by its rank in the group; 0 where there is none
    std::int64_t calls = 0;
    std::int64_t bytes = 0;
};

/// What is written into the file.
struct Record {
    std::vector<Row> rows;
    std::vector<Calls> calls;
    std::vector<std::vector<int>> groups;  ///< ranks of the world, in the order of the communicator
    double seconds = 0;                    ///< from the recorder's start to its end, on the slowest rank
};

class Recorder {
  public:
    static constexpr int most_phases = 4095;

    /// Collective over MPI_COMM_WORLD. Throws comm::Error.
    Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    void set_phase(int phase) { phase_.store(phase, std::memory_order_relaxed); }

    /// These count, or remember for `request` where it is not null. They throw comm::Error and
    /// std::bad_alloc.
    void message(const Message& message, const void* request);
    void collective(const Call& call, const void* request);
    void neighbours(const Call& call, const void* request);
    void start(int count, const void* requests);
    void forget(const void* request);

    /// Collective over the world: what all ranks have counted, on rank 0. Throws comm::Error and
    /// std::runtime_error.
    [[nodiscard]] Record gathered();
    [[nodiscard]] int rank() const { return world_.rank; }
    [[nodiscard]] const std::vector<comm::Place>& places() const { return world_.places; }

  private:
    /// What one call adds to one of the tables, without its phase.
    struct Entry {
        bool is_call = false;
        Key key;
        std::int64_t bytes = 0;
    };

    template <class Emit>
    void read(const Message& message, Emit&& emit);
    template <class Emit>
    void read(const Call& call, Emit&& emit);
    template <class Emit>
    void read_neighbours(const Call& call, Emit&& emit);
    template <class Emit>
    void read_pieces(const Call& call, const Peers& peers, Emit&& emit);
    template <class Read>
    void take(const void* request, Read&& read);
    void add(const Entry& entry);
    [[nodiscard]] std::vector<std::int64_t> as_words() const;

    World world_;
    std::chrono::steady_clock::time_point begin_;
    PeersOf peers_;
    std::atomic<int> phase_ = 1;
    std::mutex mutex_;  // guards what follows; MPI is not called with it
    Counts rows_;
    Counts calls_;
    std::unordered_map<Word, std::vector<Entry>> prepared_;  // by request
};

}  // namespace isochrone::mpi::record
