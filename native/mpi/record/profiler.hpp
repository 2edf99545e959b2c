// SPDX-License-Identifier: BSD-3-Clause
//
// What one rank spends in collectives: how often, how long, and, of some of the calls, when it came and left.
//
// Which calls of a kind are kept follows from their number alone, so that all ranks keep the same ones: of
// more than most_samples every second one, of twice as many every fourth, and so on. At the end clocks are
// compared, and of each kept call it is known when its last rank came and when its last one left.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "clock/sync.hpp"
#include "comm/place.hpp"
#include "interpose/call.hpp"
#include "record/counts.hpp"
#include "record/gather.hpp"
#include "record/peers.hpp"
#include "record/world.hpp"

namespace isochrone::mpi::record {

/// What is not timed, and only counted.
enum class Untimed : std::uint8_t { nonblocking, persistent, neighbours, between_groups };
inline constexpr std::array<const char*, 4> untimed_names{"nonblocking", "persistent", "neighbours",
                                                          "between_groups"};

/// Calls of one collective among some ranks, from one root, of sizes between two powers of two.
struct TimedCalls {
    std::int64_t collective = 0;
    std::int64_t group = 0;
    std::int64_t root = 0;
    std::int64_t calls = 0;
    std::int64_t bytes = 0;         ///< of all calls together
    double seconds = 0;             ///< in them, of all ranks together
    double slowest_s = 0;           ///< of the rank with most
    std::int64_t sampled = 0;       ///< calls of which it is known when each rank came and left
    double sampled_s = 0;           ///< in these, of all ranks together
    double waiting_s = 0;           ///< of that, before the last rank had come
    double operation_s = 0;         ///< from when the last rank came until the last left, on average
    double operation_median_s = 0;  ///< ... and the median
};

/// What is written into the file.
struct Profile {
    double sync_error_s = 0;
    std::vector<double> rank_s;         ///< [rank], from the start of MPI to its end
    std::vector<double> collectives_s;  ///< [rank], of that, in collectives that are timed
    std::vector<double> waiting_s;      ///< [rank], of that, before the last rank had come: from the samples
    std::vector<std::vector<int>> groups;
    std::vector<TimedCalls> rows;
    std::array<std::int64_t, untimed_names.size()> untimed{};  ///< on the rank with most
};

class Profiler {
  public:
    static constexpr std::size_t most_samples = 256;

    /// Collective over MPI_COMM_WORLD. Throws comm::Error.
    Profiler();
    Profiler(const Profiler&) = delete;
    Profiler& operator=(const Profiler&) = delete;

    /// A call that began and ended then, by clock::now(). Throws comm::Error and std::bad_alloc.
    void timed(const interpose::Call& call, double begin_s, double end_s);
    void untimed(Untimed kind) {
        untimed_[static_cast<std::size_t>(kind)].fetch_add(1, std::memory_order_relaxed);
    }

    /// Persistent ones: remembered for `request`, and counted whenever it is started. They throw
    /// std::bad_alloc.
    void prepared(Untimed kind, const void* request);
    void start(int count, const void* requests);
    void forget(const void* request);

    /// Collective over the world: what all ranks have seen, on rank 0. Throws comm::Error and
    /// std::runtime_error.
    [[nodiscard]] Profile gathered();
    [[nodiscard]] int rank() const { return world_.rank; }
    [[nodiscard]] const std::vector<comm::Place>& places() const { return world_.places; }

  private:
    struct Span {
        double begin_s;
        double end_s;
    };
    struct Timed {
        std::int64_t calls = 0;
        std::int64_t bytes = 0;
        double seconds = 0;
        std::thread::id thread = {};       ///< that made the first call
        bool has_several_threads = false;  ///< whether others made some too
        std::int64_t every = 1;
        std::vector<Span> samples = {};
    };
    struct Hash {
        std::size_t operator()(const Key& key) const {
            return (key.where ^ key.what * 0xff51afd7ed558ccdULL) * 0x9e3779b97f4a7c15ULL >> 16U;
        }
    };

    struct Columns;

    [[nodiscard]] Words all_rows() const;
    void prepare(const Words& words, Profile& profile, Columns& columns) const;
    void measure(Profile& profile, Columns& columns);

    World world_;
    clock::Machines machines_;
    clock::SyncedClock clock_;
    double begin_s_;
    PeersOf peers_;
    std::array<std::atomic<std::int64_t>, untimed_names.size()> untimed_{};
    std::mutex mutex_;  // guards what follows; MPI is not called with it
    std::unordered_map<Key, Timed, Hash> timed_;
    std::unordered_map<Word, Untimed> prepared_;  // by request
};

}  // namespace isochrone::mpi::record
