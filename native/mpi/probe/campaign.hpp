// SPDX-License-Identifier: BSD-3-Clause
//
// Measures pairs of a communicator and hands the results to rank 0 as it goes.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clock/clock.hpp"
#include "comm/place.hpp"
#include "probe/budget.hpp"
#include "probe/clusters.hpp"
#include "probe/options.hpp"
#include "probe/order.hpp"
#include "probe/pair_set.hpp"
#include "probe/pingpong.hpp"
#include "probe/plogp.hpp"
#include "probe/record.hpp"

namespace isochrone::mpi::probe {

/// Called on rank 0 with the lines of each batch of results and the number of pairs in them. Throws
/// comm::Failure to stop all ranks.
using Sink = std::function<void(const std::string& lines, std::size_t pairs)>;

/// How to measure some pairs.
struct Way {
    bool parameters = false;  ///< all of them too
    bool alone = false;       ///< one pair at a time, whatever the options say
    bool again = false;       ///< only to be compared with what was measured before
};

/// The methods are collective and return the same exit code on all ranks: success, or that of the failure of
/// the sink, of which rank 0 has printed the line.
class Campaign {
  public:
    /// `crowded`: some host has fewer CPUs than ranks; the same on all ranks. Collective.
    Campaign(MPI_Comm comm, const Options& options, const std::vector<comm::Place>& places,
             const clock::Calibration& calibration, const clock::Occupancy& occupancy, bool crowded,
             Sink sink);

    /// Measures the pairs that `done` does not hold (the same set on all ranks), with all parameters if the
    /// options say so; about half a second or 2048 pairs to a batch. Within a batch nobody waits but for its
    /// turn and its partner (see order.hpp).
    [[nodiscard]] int measure_missing(const PairSet& done);

    /// Measures some pairs, the same on all ranks.
    [[nodiscard]] int measure(std::vector<std::pair<int, int>> pairs, Way way);

    /// Of each pair the first rank sends messages to the second one, all pairs at once. No rank may be in two
    /// pairs; the same on all ranks.
    [[nodiscard]] int stream(const std::vector<std::pair<int, int>>& pairs, std::int64_t bytes, int messages);

    /// Measures some pairs, the same on all ranks, hands them to nobody, and returns the mean time of a pair
    /// on all ranks; with `least` as if time were up.
    [[nodiscard]] double trial(const std::vector<std::pair<int, int>>& pairs, bool parameters, bool least);

    /// How many steps it takes to measure all pairs, or these if there are any.
    [[nodiscard]] std::int64_t steps(const std::vector<std::pair<int, int>>& pairs) const;

    /// Waits for all ranks, without taking a CPU from any that others need.
    void gather() { ping_pong_.rest(); }

  private:
    using Wanted = std::function<bool(int, int)>;

    [[nodiscard]] int run(const Order& order, const Wanted& wanted, Way way, std::int64_t steps_later = 0);
    [[nodiscard]] int hand_over(const std::string& lines, std::size_t pairs);
    [[nodiscard]] std::unique_ptr<const Order> order_of(std::vector<std::pair<int, int>> pairs,
                                                        Way way) const;
    void limit(double pair_s, bool parameters);
    [[nodiscard]] std::vector<double> measure_batch(const Order& order, const Wanted& wanted, bool parameters,
                                                    std::int64_t first, std::int64_t last, double at_s);
    [[nodiscard]] std::vector<Parameters> initiate_parameters(int responder);
    void respond_with_parameters(int initiator, std::vector<double>& packed);

    MPI_Comm comm_;
    int rank_;
    Options options_;
    Sink sink_;
    double start_s_;
    Budget budget_;                     ///< of use on rank 0
    std::int64_t asked_steps_ = 0;      ///< of measure()
    double busy_s_ = 0;                 ///< with pairs that this rank has timed
    std::optional<Clusters> clusters_;  ///< if pairs take turns by these
    std::vector<int> turn_group_;       ///< of each rank: one pair at a time has a rank of a group
    PingPong ping_pong_;
    std::optional<Plogp> plogp_;
};

}  // namespace isochrone::mpi::probe
