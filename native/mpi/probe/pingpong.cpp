// SPDX-License-Identifier: BSD-3-Clause
#include "probe/pingpong.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>

#include "comm/check.hpp"

namespace isochrone::mpi::probe {

namespace {

constexpr int hello_tag = 1;
constexpr int message_tag = 2;
constexpr int effort_tag = 3;
constexpr int first_token_tag = 4;

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
              '\1') {
    rtts_s_.reserve(static_cast<std::size_t>(settings_.repetitions));
    sends_s_.reserve(static_cast<std::size_t>(settings_.repetitions));
}

PairTimes PingPong::initiate(int responder) {
    send(responder, 0, hello_tag);
    await(responder, hello_tag);
    PairTimes times;
    for (std::size_t size = 0; size < settings_.sizes_bytes.size(); ++size) {
        time_size(responder, size, effort(size, times.rtt_min_s), times);
        if (size == 0 && settings_.patience_s > 0) {
            // Nothing smaller tells what to expect: so once, and then as often as that allows.
            const std::vector<double> once = {times.rtt_min_s.back()};
            times = {};
            time_size(responder, size, affordable(once.back()), times);
        }
    }
    return times;
}

/// What the smaller sizes let expect of size number `size`, on a straight line through the last two.
PingPong::Effort PingPong::effort(std::size_t size, const std::vector<double>& rtt_min_s) const {
    if (settings_.patience_s <= 0) return {settings_.warmup, settings_.repetitions};
    if (size == 0) return {0, 1};
    const std::vector<std::int64_t>& sizes = settings_.sizes_bytes;
    double expected_s = rtt_min_s[size - 1];
    if (size >= 2) {
        const double per_byte = (rtt_min_s[size - 1] - rtt_min_s[size - 2]) /
                                static_cast<double>(sizes[size - 1] - sizes[size - 2]);
        expected_s += std::max(0.0, per_byte) * static_cast<double>(sizes[size] - sizes[size - 1]);
    }
    // One that was left out leaves out all that follow: not a number is not below anything.
    if (!(expected_s < 4 * settings_.patience_s)) return {0, 0};
    return affordable(expected_s);
}

/// At least one, if each takes so long.
PingPong::Effort PingPong::affordable(double rtt_s) const {
    const double most = settings_.patience_s / std::max(rtt_s, 1e-9);
    if (most >= settings_.warmup + settings_.repetitions) return {settings_.warmup, settings_.repetitions};
    const int messages = std::max(1, static_cast<int>(most));
    const int warmup = std::min(settings_.warmup, messages / 3);
    return {warmup, std::min(settings_.repetitions, messages - warmup)};
}

void PingPong::time_size(int responder, std::size_t size, Effort effort, PairTimes& times) {
    const int bytes = static_cast<int>(settings_.sizes_bytes[size]);
    if (settings_.patience_s > 0) {
        const std::array<int, 2> counts{effort.warmup, effort.repetitions};
        comm::check(MPI_Send(counts.data(), 2, MPI_INT, responder, effort_tag, comm_), "MPI_Send");
    }
    for (int i = 0; i < effort.warmup; ++i) {
        send(responder, bytes, message_tag);
        receive(responder, bytes, message_tag);
    }
    rtts_s_.clear();
    sends_s_.clear();
    for (int i = 0; i < effort.repetitions; ++i) {
        const double before_s = clock::now();
        send(responder, bytes, message_tag);
        const double sent_s = clock::now();
        receive(responder, bytes, message_tag);
        const double after_s = clock::now();
        rtts_s_.push_back(std::max(0.0, after_s - before_s - clock_overhead_s_));
        sends_s_.push_back(std::max(0.0, sent_s - before_s - clock_overhead_s_));
    }
    const double nothing = std::numeric_limits<double>::quiet_NaN();
    const bool some = effort.repetitions > 0;
    times.rtt_min_s.push_back(some ? *std::min_element(rtts_s_.begin(), rtts_s_.end()) : nothing);
    times.rtt_median_s.push_back(some ? median(rtts_s_) : nothing);
    times.send_overhead_s.push_back(some ? median(sends_s_) : nothing);
}

void PingPong::respond(int initiator) {
    await(initiator, hello_tag);
    send(initiator, 0, hello_tag);
    std::vector<std::int64_t> sizes_bytes = settings_.sizes_bytes;
    if (settings_.patience_s > 0) sizes_bytes.insert(sizes_bytes.begin(), sizes_bytes.front());
    for (const std::int64_t size_bytes : sizes_bytes) {
        const int bytes = static_cast<int>(size_bytes);
        std::array<int, 2> counts{settings_.warmup, settings_.repetitions};
        if (settings_.patience_s > 0) {
            comm::check(MPI_Recv(counts.data(), 2, MPI_INT, initiator, effort_tag, comm_, MPI_STATUS_IGNORE),
                        "MPI_Recv");
        }
        const int exchanges = counts[0] + counts[1];
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
