// SPDX-License-Identifier: BSD-3-Clause
#include "probe/pingpong.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "comm/check.hpp"
#include "probe/precision.hpp"
#include "probe/quantile.hpp"

namespace isochrone::mpi::probe {

namespace {

constexpr int hello_tag = 1;
constexpr int message_tag = 2;
constexpr int block_tag = 3;
constexpr int first_token_tag = 4;

/// MPI promises tags up to 32767. Steps that share a tag are so far apart that one is done before the other
/// is near.
int token_tag(std::int64_t step) { return first_token_tag + static_cast<int>(step % 32'000); }

}  // namespace

PingPong::PingPong(MPI_Comm comm, Settings settings, double clock_overhead_s,
                   const clock::Occupancy& occupancy)
    : comm_(comm),
      settings_(std::move(settings)),
      clock_overhead_s_(clock_overhead_s),
      occupancy_(occupancy),
      announces_(settings_.patience_s > 0 ||
                 (settings_.repetitions > 1 && (settings_.precision > 0 || settings_.budget))),
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
    const double start_s = clock::now();
    const std::size_t sizes = settings_.sizes_bytes.size();
    PairTimes times;
    for (std::size_t size = 0; size < sizes; ++size) {
        // What one size leaves of its share is for those that follow, which are larger.
        const double left_s = pair_s_ - (clock::now() - start_s);
        double time_s = std::max(0.0, left_s) / static_cast<double>(sizes - size);
        if (settings_.patience_s > 0) time_s = std::min(time_s, settings_.patience_s);
        time_size(responder, size, time_s, times);
    }
    return times;
}

/// What the smaller sizes let expect of size number `size`, on a straight line through the last two.
double PingPong::expected_s(std::size_t size, const std::vector<double>& rtt_min_s) const {
    const std::vector<std::int64_t>& sizes = settings_.sizes_bytes;
    double expected_s = rtt_min_s[size - 1];
    if (size >= 2) {
        const double per_byte = (rtt_min_s[size - 1] - rtt_min_s[size - 2]) /
                                static_cast<double>(sizes[size - 1] - sizes[size - 2]);
        expected_s += std::max(0.0, per_byte) * static_cast<double>(sizes[size] - sizes[size - 1]);
    }
    return expected_s;
}

/// At least one, if each takes so long.
PingPong::Effort PingPong::affordable(double rtt_s, double time_s) const {
    const double most = time_s / std::max(rtt_s, 1e-9);
    if (most >= settings_.warmup + settings_.repetitions) return {settings_.warmup, settings_.repetitions};
    const int messages = std::max(1, static_cast<int>(most));
    const int warmup = std::min(settings_.warmup, messages / 3);
    return {warmup, std::min(settings_.repetitions, messages - warmup)};
}

void PingPong::time_size(int responder, std::size_t size, double time_s, PairTimes& times) {
    const int bytes = static_cast<int>(settings_.sizes_bytes[size]);
    rtts_s_.clear();
    sends_s_.clear();
    Effort effort{settings_.warmup, settings_.repetitions};
    if (announces_ && std::isfinite(time_s)) {
        double rtt_s = 0;
        if (size == 0) {
            // Nothing smaller tells what to expect: so once, and then as often as that allows.
            exchange(responder, bytes, 0, 1);
            rtt_s = rtts_s_.back();
            rtts_s_.clear();
            sends_s_.clear();
        } else {
            rtt_s = expected_s(size, times.rtt_min_s);
        }
        // One that was left out leaves out all that follow: not a number is not below anything.
        const bool bearable = size == 0 || settings_.patience_s <= 0 || rtt_s < 4 * settings_.patience_s;
        effort = bearable ? affordable(rtt_s, time_s) : Effort{0, 0};
    }
    const double start_s = clock::now();
    auto most = static_cast<std::size_t>(effort.repetitions);
    while (rtts_s_.size() < most) {
        const std::size_t next = settings_.precision > 0 ? next_look(rtts_s_.size(), most) : most;
        // The first answer after an announcement may be late, since the responder has to read that first.
        const int untimed = rtts_s_.empty() ? effort.warmup : 1;
        exchange(responder, bytes, untimed, static_cast<int>(next - rtts_s_.size()));
        if (settings_.precision > 0 && known_to(settings_.precision, rtts_s_)) break;
        // What was expected of few messages, the first of a pair at that, may have been far too much.
        if (rtts_s_.size() == most && std::isfinite(time_s)) most += more(time_s - (clock::now() - start_s));
    }
    if (announces_) announce(responder, 0);
    const double nothing = std::numeric_limits<double>::quiet_NaN();
    const bool some = !rtts_s_.empty();
    times.repetitions.push_back(static_cast<int>(rtts_s_.size()));
    times.rtt_min_s.push_back(some ? *std::min_element(rtts_s_.begin(), rtts_s_.end()) : nothing);
    times.rtt_median_s.push_back(some ? median(rtts_s_) : nothing);
    times.send_overhead_s.push_back(some ? median(sends_s_) : nothing);
}

/// How many more repetitions the time is for, by those timed so far; few are not worth another block.
std::size_t PingPong::more(double time_s) const {
    const double count = time_s / std::max(median(rtts_s_), 1e-9);
    const std::size_t done = rtts_s_.size();
    if (count < 1 || count < static_cast<double>(done) / 4) return 0;
    const auto most = static_cast<std::size_t>(settings_.repetitions) - done;
    return count < static_cast<double>(most) ? static_cast<std::size_t>(count) : most;
}

/// Adds to rtts_s_ and sends_s_.
void PingPong::exchange(int responder, int bytes, int untimed, int timed) {
    if (announces_) announce(responder, untimed + timed);
    for (int i = 0; i < untimed; ++i) {
        send(responder, bytes, message_tag);
        receive(responder, bytes, message_tag);
    }
    for (int i = 0; i < timed; ++i) {
        const double before_s = clock::now();
        send(responder, bytes, message_tag);
        const double sent_s = clock::now();
        receive(responder, bytes, message_tag);
        const double after_s = clock::now();
        rtts_s_.push_back(std::max(0.0, after_s - before_s - clock_overhead_s_));
        sends_s_.push_back(std::max(0.0, sent_s - before_s - clock_overhead_s_));
    }
}

void PingPong::announce(int responder, int messages) {
    comm::check(MPI_Send(&messages, 1, MPI_INT, responder, block_tag, comm_), "MPI_Send");
}

void PingPong::respond(int initiator) {
    await(initiator, hello_tag);
    send(initiator, 0, hello_tag);
    for (const std::int64_t size_bytes : settings_.sizes_bytes) {
        const int bytes = static_cast<int>(size_bytes);
        int messages = settings_.warmup + settings_.repetitions;
        do {
            if (announces_) {
                comm::check(MPI_Recv(&messages, 1, MPI_INT, initiator, block_tag, comm_, MPI_STATUS_IGNORE),
                            "MPI_Recv");
            }
            for (int i = 0; i < messages; ++i) {
                receive(initiator, bytes, message_tag);
                send(initiator, bytes, message_tag);
            }
        } while (announces_ && messages > 0);
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
    // Not MPI_Barrier on some machines: the two do not meet.
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
