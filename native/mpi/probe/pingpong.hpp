// SPDX-License-Identifier: BSD-3-Clause
//
// The measurement of one pair, when its turn has come.
//
//   earlier initiators    initiator                      responder
//         | -- token ------> |                               |   the hosts of both are free now
//         |                  | -------- hello -------------> |   it may not be waiting yet; nothing is timed
//         |                  | <------- hello -------------- |   now both are here
//         |                  | ---- block -----------------> |   if the number of messages is not settled:
//         |                  |                               |   how many are next; none end the size
//         |                  | ---- W + R messages --------> |   for each size, in one block or several;
//         |                  | <--- answered at once ------- |   the first W are not timed
//         |                  | -- token --> later initiators
//
// The initiator alone decides how many there are: by patience and the time for a pair, from what the smaller
// sizes have taken, and by the precision, from what has been timed so far.
//
// Time stamps t0 before the send, t1 after it, t2 after the receive: RTT = t2 - t0, send overhead = t1 - t0.
// One reading of the clock is taken off each; the one at t1 falls into the flight of the message and costs
// the RTT nothing.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "clock/clock.hpp"

namespace isochrone::mpi::probe {

/// Seconds, one value for each size; NaN for one that would have taken too long.
struct PairTimes {
    std::vector<double> rtt_min_s;
    std::vector<double> rtt_median_s;
    std::vector<double> send_overhead_s;  ///< median
    std::vector<int> repetitions;         ///< that were timed
};

class PingPong {
  public:
    struct Settings {
        std::vector<std::int64_t> sizes_bytes;
        int repetitions = 1;
        int warmup = 0;
        double patience_s = 0;  ///< for one size; 0: without end
        double precision = 0;   ///< share of the median that its interval may be wide; 0: all repetitions
        bool budget = false;    ///< limit() may be called
    };

    PingPong(MPI_Comm comm, Settings settings, double clock_overhead_s, const clock::Occupancy& occupancy);

    /// The time for all sizes of a pair from now on. Each size has one repetition at least; infinite: without
    /// end.
    void limit(double pair_s) { pair_s_ = pair_s; }

    /// Times the exchanges with `responder`, which must call respond() towards this rank.
    [[nodiscard]] PairTimes initiate(int responder);
    void respond(int initiator);

    /// Tokens order the turns of a host. Those for different steps do not mix.
    void send_token(int initiator, std::int64_t step);
    void await_token(int initiator, std::int64_t step);

    /// Waits until all ranks have come here.
    void rest();

  private:
    /// How often messages of one size go to and fro.
    struct Effort {
        int warmup = 0;
        int repetitions = 0;
    };
    [[nodiscard]] double expected_s(std::size_t size, const std::vector<double>& rtt_min_s) const;
    [[nodiscard]] Effort affordable(double rtt_s, double time_s) const;
    void time_size(int responder, std::size_t size, double time_s, PairTimes& times);
    [[nodiscard]] std::size_t more(double time_s) const;
    void exchange(int responder, int bytes, int untimed, int timed);
    void announce(int responder, int messages);

    void send(int peer, int bytes, int tag);
    void receive(int peer, int bytes, int tag);
    void await(int peer, int tag);
    void nap() const;

    MPI_Comm comm_;
    Settings settings_;
    double clock_overhead_s_;
    clock::Occupancy occupancy_;
    bool announces_;  ///< the initiator says how many messages there will be
    double pair_s_ = std::numeric_limits<double>::infinity();
    std::vector<char> buffer_;
    std::vector<double> rtts_s_;
    std::vector<double> sends_s_;
};

}  // namespace isochrone::mpi::probe
