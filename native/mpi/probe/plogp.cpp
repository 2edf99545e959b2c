// SPDX-License-Identifier: BSD-3-Clause
#include "probe/plogp.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>

#include "comm/check.hpp"
#include "probe/precision.hpp"
#include "probe/quantile.hpp"
#include "probe/saturation.hpp"

namespace isochrone::mpi::probe {

namespace {

constexpr int exchange_tag = 32'010;
constexpr int parameter_tag = 32'011;

enum Kind : int { no_more = 0, ping_pong = 1, burst = 2 };

constexpr std::int64_t max_burst_bytes = 64 * 1024;  // g(m) of larger ones comes from round trips
constexpr std::int64_t first_burst = 10;
// Kielmann's program goes on to 2560, the thesis to 37,500. That tells little more, and where messages queue
// up on the way a simulator's time grows with their square.
constexpr std::int64_t longest_burst = 1280;
constexpr int bursts = 3;      // of each length
constexpr double delay = 1.3;  // in round trips, before a receive that must not wait

// A budget for a pair is for about so many parts: some twenty sizes with round trips, delayed receives and
// bursts, which take longest.
constexpr double parts = 100;

// Round trips end when the median is known to 5 %, at 95 % confidence.
constexpr std::size_t first_round_trips = 10;
constexpr double narrow = 0.05;

// A size that is off the line through its neighbours by more has another measured beside it.
constexpr double off_line = 0.1;
constexpr std::int64_t least_step_bytes = 32;
constexpr int most_extra_sizes = 24;

double most_s(const Plogp::Settings& settings) {
    return settings.patience_s > 0 ? settings.patience_s : std::numeric_limits<double>::infinity();
}

}  // namespace

Plogp::Plogp(MPI_Comm comm, Settings settings, double clock_overhead_s, const clock::Occupancy& occupancy)
    : comm_(comm),
      settings_(settings),
      clock_overhead_s_(clock_overhead_s),
      occupancy_(occupancy),
      size_s_(most_s(settings)),
      buffer_(static_cast<std::size_t>(std::max<std::int64_t>(settings.max_bytes, 1)), '\1') {}

void Plogp::limit(double pair_s) { size_s_ = std::min(most_s(settings_), pair_s / parts); }

Parameters Plogp::measure(int responder) {
    responder_ = responder;
    Samples samples;
    samples[0] = sample(0, samples);
    for (std::int64_t size = 1; size <= settings_.max_bytes && affordable(size, samples); size *= 2)
        samples[size] = sample(size, samples);
    refine(samples);
    announce(no_more, 0, 0);
    Parameters found;
    MPI_Comm_rank(comm_, &found.from);
    for (const auto& [size, sample] : samples) {
        found.sizes_bytes.push_back(size);
        found.rtt_s.push_back(sample.rtt_s);
        found.send_overhead_s.push_back(sample.send_overhead_s);
        found.receive_overhead_s.push_back(sample.receive_overhead_s);
        found.gap_s.push_back(sample.gap_s);
    }
    return found;
}

/// Twice the size takes twice as long at most.
bool Plogp::affordable(std::int64_t size_bytes, const Samples& smaller) const {
    if (settings_.patience_s <= 0) return true;
    const auto& [last_bytes, last] = *smaller.rbegin();
    const double growth =
        last_bytes > 0 ? static_cast<double>(size_bytes) / static_cast<double>(last_bytes) : 1;
    return last.rtt_s[2] * growth < 4 * settings_.patience_s;
}

Plogp::Sample Plogp::sample(std::int64_t size_bytes, const Samples& smaller) {
    Sample found;
    time_round_trips(size_bytes, found);
    found.receive_overhead_s = time_delayed_receives(size_bytes, found.rtt_s[2]);
    if (size_bytes <= max_burst_bytes) {
        found.gap_s = time_gap(size_bytes);
    } else {
        const Sample& empty = smaller.at(0);
        found.gap_s = empty.gap_s + (found.rtt_s[2] - empty.rtt_s[2]) / 2;
    }
    return found;
}

/// More sizes where a straight line through a size's neighbours misses it (section 3.1.2, "Additional
/// measurements"): so a step from one protocol to another is found to a few bytes.
void Plogp::refine(Samples& samples) {
    const auto wanted = [&]() -> std::int64_t {
        for (auto here = std::next(samples.begin()); std::next(here) != samples.end(); ++here) {
            const auto before = std::prev(here);
            const auto after = std::next(here);
            const double share = static_cast<double>(here->first - before->first) /
                                 static_cast<double>(after->first - before->first);
            const double expected_s =
                before->second.rtt_s[2] + share * (after->second.rtt_s[2] - before->second.rtt_s[2]);
            const double scatter_s = here->second.rtt_s[3] - here->second.rtt_s[1];
            const double miss_s = std::abs(here->second.rtt_s[2] - expected_s);
            if (miss_s <= std::max(off_line * expected_s, 2 * scatter_s)) continue;
            if (after->first - here->first > least_step_bytes) return (here->first + after->first) / 2;
            if (here->first - before->first > least_step_bytes) return (before->first + here->first) / 2;
        }
        return 0;
    };
    if (samples.size() < 3) return;
    for (int extra = 0; extra < most_extra_sizes; ++extra) {
        const std::int64_t size = wanted();
        if (size == 0) return;
        samples[size] = sample(size, samples);
    }
}

void Plogp::time_round_trips(std::int64_t size_bytes, Sample& found) {
    std::vector<double> rtts_s;
    std::vector<double> sends_s;
    const auto most = static_cast<std::size_t>(settings_.repetitions);
    const double start_s = clock::now();
    for (std::size_t chunk = std::min(first_round_trips, most); chunk > 0;) {
        const std::size_t untimed = rtts_s.empty() ? static_cast<std::size_t>(settings_.warmup) : 0;
        announce(ping_pong, size_bytes, static_cast<std::int64_t>(untimed + chunk));
        for (std::size_t i = 0; i < untimed + chunk; ++i) {
            const double before_s = clock::now();
            if (settings_.synchronous) {
                comm::check(MPI_Ssend(buffer_.data(), static_cast<int>(size_bytes), MPI_BYTE, responder_,
                                      parameter_tag, comm_),
                            "MPI_Ssend");
            } else {
                send(responder_, size_bytes);
            }
            const double sent_s = clock::now();
            receive(responder_, size_bytes);
            const double after_s = clock::now();
            if (i < untimed) continue;
            rtts_s.push_back(after_s - before_s - clock_overhead_s_);
            sends_s.push_back(sent_s - before_s - clock_overhead_s_);
        }
        const bool late = clock::now() - start_s > size_s_;
        chunk = late || known_to(narrow, rtts_s) ? 0 : std::min(rtts_s.size(), most - rtts_s.size());
    }
    found.send_overhead_s = median(std::move(sends_s));
    std::sort(rtts_s.begin(), rtts_s.end());
    found.rtt_s = {rtts_s.front(), quantile(rtts_s, 0.25), quantile(rtts_s, 0.5), quantile(rtts_s, 0.75)};
}

double Plogp::time_delayed_receives(std::int64_t size_bytes, double rtt_s) {
    std::int64_t count = std::min<std::int64_t>(settings_.repetitions, first_round_trips);
    if (rtt_s > 0 && static_cast<double>(count) * rtt_s > size_s_)
        count = std::max<std::int64_t>(static_cast<std::int64_t>(size_s_ / rtt_s), 1);
    std::vector<double> receives_s;
    announce(ping_pong, size_bytes, count);
    for (std::int64_t i = 0; i < count; ++i) {
        const double before_s = clock::now();
        send(responder_, size_bytes);
        clock::sleep_until(before_s + delay * rtt_s, occupancy_);
        const double waited_s = clock::now();
        receive(responder_, size_bytes);
        receives_s.push_back(clock::now() - waited_s - clock_overhead_s_);
    }
    return median(std::move(receives_s));
}

double Plogp::time_gap(std::int64_t size_bytes) {
    Saturation saturation;
    const double start_s = clock::now();
    for (std::int64_t count = first_burst;; count *= 2) {
        saturation.add(count, time_bursts(size_bytes, count));
        const bool late = count > first_burst && clock::now() - start_s > size_s_;
        if (saturation.reached() || late || 2 * count > longest_burst) return saturation.gap_s();
    }
}

/// Each from the first send to the answer to the last.
std::vector<double> Plogp::time_bursts(std::int64_t size_bytes, std::int64_t count) {
    std::vector<double> times_s;
    for (int left = std::min(bursts, settings_.repetitions); left > 0; --left) {
        announce(burst, size_bytes, count);
        const double before_s = clock::now();
        for (std::int64_t i = 0; i < count; ++i) send(responder_, size_bytes);
        receive(responder_, 0);
        times_s.push_back(clock::now() - before_s - clock_overhead_s_);
    }
    return times_s;
}

void Plogp::serve(int initiator) {
    for (;;) {
        std::array<std::int64_t, 3> exchange{};
        comm::check(
            MPI_Recv(exchange.data(), 3, MPI_INT64_T, initiator, exchange_tag, comm_, MPI_STATUS_IGNORE),
            "MPI_Recv");
        const auto [kind, size_bytes, count] = exchange;
        if (kind == no_more) return;
        for (std::int64_t i = 0; i < count; ++i) {
            receive(initiator, size_bytes);
            if (kind == ping_pong) send(initiator, size_bytes);
        }
        if (kind == burst) send(initiator, 0);
    }
}

void Plogp::announce(int kind, std::int64_t size_bytes, std::int64_t count) {
    const std::array<std::int64_t, 3> exchange{kind, size_bytes, count};
    comm::check(MPI_Send(exchange.data(), 3, MPI_INT64_T, responder_, exchange_tag, comm_), "MPI_Send");
}

void Plogp::send(int peer, std::int64_t size_bytes) {
    comm::check(MPI_Send(buffer_.data(), static_cast<int>(size_bytes), MPI_BYTE, peer, parameter_tag, comm_),
                "MPI_Send");
}

void Plogp::receive(int peer, std::int64_t size_bytes) {
    comm::check(MPI_Recv(buffer_.data(), static_cast<int>(size_bytes), MPI_BYTE, peer, parameter_tag, comm_,
                         MPI_STATUS_IGNORE),
                "MPI_Recv");
}

}  // namespace isochrone::mpi::probe
