// SPDX-License-Identifier: BSD-3-Clause
#include "probe/pingpong.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "comm/check.hpp"

namespace isochrone::mpi::probe {

namespace {

constexpr int hello_tag = 1;
constexpr int message_tag = 2;
constexpr int first_token_tag = 3;

/// MPI promises tags up to 32767. Steps that share a tag are so far apart that one is done before the other
/// is near.
int token_tag(std::int64_t step) { return first_token_tag + static_cast<int>(step % 32'000); }

/// Sorts the values.
double median(std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

PingPong::PingPong(MPI_Comm comm, Settings settings, double clock_overhead_s,
                   const clock::Occupancy& occupancy)
    : comm_(comm),
      settings_(std::move(settings)),
      clock_overhead_s_(clock_overhead_s),
      occupancy_(occupancy),
      // One buffer both ways: the two messages of an exchange are never under way at once.
      buffer_(static_cast<std::size_t>(
                  *std::max_element(settings_.sizes_bytes.begin(), settings_.sizes_bytes.end())),
              '\1'),
      rtts_s_(static_cast<std::size_t>(settings_.repetitions)),
      sends_s_(static_cast<std::size_t>(settings_.repetitions)) {}

PairTimes PingPong::initiate(int responder) {
    send(responder, 0, hello_tag);
    await(responder, hello_tag);
    PairTimes times;
    for (const std::int64_t size_bytes : settings_.sizes_bytes) {
        const int bytes = static_cast<int>(size_bytes);
        for (int i = 0; i < settings_.warmup; ++i) {
            send(responder, bytes, message_tag);
            receive(responder, bytes, message_tag);
        }
        for (std::size_t i = 0; i < rtts_s_.size(); ++i) {
            const double before_s = clock::now();
            send(responder, bytes, message_tag);
            const double sent_s = clock::now();
            receive(responder, bytes, message_tag);
            const double after_s = clock::now();
            rtts_s_[i] = std::max(0.0, after_s - before_s - clock_overhead_s_);
            sends_s_[i] = std::max(0.0, sent_s - before_s - clock_overhead_s_);
        }
        times.rtt_min_s.push_back(*std::min_element(rtts_s_.begin(), rtts_s_.end()));
        times.rtt_median_s.push_back(median(rtts_s_));
        times.send_overhead_s.push_back(median(sends_s_));
    }
    return times;
}

void PingPong::respond(int initiator) {
    await(initiator, hello_tag);
    send(initiator, 0, hello_tag);
    const int exchanges = settings_.warmup + settings_.repetitions;
    for (const std::int64_t size_bytes : settings_.sizes_bytes) {
        const int bytes = static_cast<int>(size_bytes);
        for (int i = 0; i < exchanges; ++i) {
            receive(initiator, bytes, message_tag);
            send(initiator, bytes, message_tag);
        }
    }
}

void PingPong::send(int peer, int bytes, int tag) {
    comm::check(MPI_Send(buffer_.data(), bytes, MPI_BYTE, peer, tag, comm_), "MPI_Send");
}

void PingPong::receive(int peer, int bytes, int tag) {
    comm::check(MPI_Recv(buffer_.data(), bytes, MPI_BYTE, peer, tag, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
}

void PingPong::send_token(int initiator, std::int64_t step) { send(initiator, 0, token_tag(step)); }

void PingPong::await_token(int initiator, std::int64_t step) { await(initiator, token_tag(step)); }

void PingPong::rest() {
    MPI_Request request = MPI_REQUEST_NULL;
    comm::check(MPI_Ibarrier(comm_, &request), "MPI_Ibarrier");
    if (!occupancy_.oversubscribed()) {
        comm::check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
        return;
    }
    int complete = 0;
    while (complete == 0) {
        comm::check(MPI_Test(&request, &complete, MPI_STATUS_IGNORE), "MPI_Test");
        if (complete == 0) nap();
    }
}

/// Waits for an empty message, for as long as it takes.
void PingPong::await(int peer, int tag) {
    int here = occupancy_.oversubscribed() ? 0 : 1;
    while (here == 0) {
        comm::check(MPI_Iprobe(peer, tag, comm_, &here, MPI_STATUS_IGNORE), "MPI_Iprobe");
        if (here == 0) nap();
    }
    receive(peer, 0, tag);
}

/// With fewer CPUs than ranks, a rank that polled for its turn would slow down those that measure. All that
/// nap together look up no more often than a few ranks would.
void PingPong::nap() const { clock::sleep_for(50e-6 * occupancy_.ranks / occupancy_.cpus); }

}  // namespace isochrone::mpi::probe
