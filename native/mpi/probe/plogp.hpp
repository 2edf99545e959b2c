// SPDX-License-Identifier: BSD-3-Clause
//
// The PLogP parameters of one pair (Kielmann, Bal, Verstoep: Fast measurement of LogP parameters for message
// passing platforms, 2000; Reinfjell 2023, section 3.1.2), when its turn has come and both have shaken hands.
//
//   initiator                                   responder
//      | ---- exchange: kind, bytes, count ------> |    until an exchange of no kind
//      |                                           |
//      | ---- message -----> |  ping-pong, count times: RTT(m), and o_s(m) around the send
//      | <--- message ------ |    again, with a wait of 1.3 RTT(m) before the receive: o_r(m) around it
//      |                                           |
//      | ---- message -----> |  burst: count messages, and one empty answer to all of them. The more there
//      | ---- message -----> |  are, the longer it takes, by g(m) for each: the slope between two counts
//      | <--- nothing ------ |  has no latency in it; counts double until it stays the same (saturation.hpp)
//
// Beyond 64 KiB g(m) comes from round trips. Messages go both ways with the same size here, so that RTT(m) =
// 2 L + 2 g(m), and g(m) = g(0) + (RTT(m) - RTT(0)) / 2. L = RTT(0) / 2 - g(0) is for whoever reads it.
// Nothing is clamped: what noise made negative is in the results.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "clock/clock.hpp"

namespace isochrone::mpi::probe {

/// Of one pair, in one direction; a value for each size, in seconds.
struct Parameters {
    int from = 0;                              ///< the rank that sent
    std::vector<std::int64_t> sizes_bytes;     ///< ascending, from 0
    std::vector<std::array<double, 4>> rtt_s;  ///< least, lower quartile, median, upper quartile
    std::vector<double> send_overhead_s;       ///< median
    std::vector<double> receive_overhead_s;    ///< median
    std::vector<double> gap_s;
};

class Plogp {
  public:
    struct Settings {
        std::int64_t max_bytes = std::int64_t{1} << 21;
        int repetitions = 100;     ///< most round trips of each size
        int warmup = 2;            ///< before them
        double patience_s = 0;     ///< for one size; 0: without end
        bool synchronous = false;  ///< o_s around a synchronous send, as in the thesis: measures a handshake
    };

    Plogp(MPI_Comm comm, Settings settings, double clock_overhead_s, const clock::Occupancy& occupancy);

    /// The time for a pair from now on, more or less: of each size fewer messages, but all sizes that
    /// patience bears. Infinite: without end.
    void limit(double pair_s);

    /// Measures towards `responder`, which must call serve() towards this rank.
    [[nodiscard]] Parameters measure(int responder);
    void serve(int initiator);

  private:
    struct Sample {
        std::array<double, 4> rtt_s{};
        double send_overhead_s = 0;
        double receive_overhead_s = 0;
        double gap_s = 0;
    };
    using Samples = std::map<std::int64_t, Sample>;

    [[nodiscard]] Sample sample(std::int64_t size_bytes, const Samples& smaller);
    [[nodiscard]] bool affordable(std::int64_t size_bytes, const Samples& smaller) const;
    void refine(Samples& samples);
    void time_round_trips(std::int64_t size_bytes, Sample& found);
    [[nodiscard]] double time_delayed_receives(std::int64_t size_bytes, double rtt_s);
    [[nodiscard]] double time_gap(std::int64_t size_bytes);
    [[nodiscard]] std::vector<double> time_bursts(std::int64_t size_bytes, std::int64_t count);

    void announce(int kind, std::int64_t size_bytes, std::int64_t count);
    void send(int peer, std::int64_t size_bytes);
    void receive(int peer, std::int64_t size_bytes);

    MPI_Comm comm_;
    Settings settings_;
    double clock_overhead_s_;
    clock::Occupancy occupancy_;
    double size_s_;  ///< time for one part of what is measured of a size
    int responder_ = MPI_PROC_NULL;
    std::vector<char> buffer_;
};

}  // namespace isochrone::mpi::probe
