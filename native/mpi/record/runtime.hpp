// SPDX-License-Identifier: BSD-3-Clause
//
// What the entry points of the recorder call. Nothing is thrown; nothing here changes what the program gets.
#pragma once

#include <atomic>

#include "interpose/call.hpp"
#include "record/message.hpp"

namespace isochrone::mpi::record {

using interpose::Call;

/// How deep this thread is in functions that are taken the place of. Only what the program itself has called
/// is counted: one entry may call the other of the same function, and libraries make collectives of messages.
__attribute__((tls_model("initial-exec"))) inline thread_local int depth = 0;

/// Whether anything is to be counted now.
inline std::atomic<bool> recording = false;

/// Where the code of the MPI library itself lies. What it calls itself outside of these functions, such as to
/// make a communicator, is not the program's either.
inline std::atomic<const char*> library_begin = nullptr;
inline std::atomic<const char*> library_end = nullptr;

/// A call while it is in the library behind.
class Inside {
  public:
    explicit Inside(const void* caller) : outermost_(depth == 0) {
        ++depth;
        const auto* from = static_cast<const char*>(caller);
        counts_ = outermost_ && recording.load(std::memory_order_relaxed) &&
                  (from < library_begin.load(std::memory_order_relaxed) ||
                   from >= library_end.load(std::memory_order_relaxed));
    }
    ~Inside() { --depth; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

    [[nodiscard]] bool is_outermost() const { return outermost_; }
    /// Whether it is to be counted, if it succeeds.
    [[nodiscard]] bool counts() const { return counts_; }

  private:
    bool outermost_;
    bool counts_ = false;
};

/// The time, for a call that is to be timed; 0 where none is.
[[nodiscard]] double begins(const Inside& inside) noexcept;

/// After the program has started MPI. Collective over MPI_COMM_WORLD.
void started() noexcept;

/// Before the program ends MPI: brings all counts, or times, to rank 0, which writes the file. Collective
/// over the world.
void ending() noexcept;

/// What comes from now on belongs to another phase: 0 is not recorded, 1 goes on, and others are numbers of
/// phases.
void phase(int level) noexcept;

/// Calls that have succeeded; of a blocking collective it is told when it began.
void message_sent(const Message& message) noexcept;
void collective_called(const Call& call, double begin_s) noexcept;
void collective_begun(const Call& call) noexcept;
void neighbours_called(const Call& call) noexcept;

/// Persistent ones, counted whenever their request is started. `request` points to the library's handle.
void prepared(const Message& message, const void* request) noexcept;
void prepared(const Call& call, const void* request) noexcept;
void prepared_exchange(const Call& call, const void* request) noexcept;
void start(int count, const void* requests) noexcept;
void forget(const void* request) noexcept;

}  // namespace isochrone::mpi::record
