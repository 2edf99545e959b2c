// SPDX-License-Identifier: BSD-3-Clause
//
// Who measures with whom, and in which order: every pair of ranks once, and at any moment at most one pair
// for each host. Pairs that share a host's memory, network card or processors at the same time would time
// each other, not the way between them; and where a host has fewer processors than ranks, more than one pair
// could not even run at once.
//
// In round t hosts a and b meet if a + b = t (modulo their number): the circle method of round-robin
// tournaments, with self-meetings, for the pairs inside a host. A meeting takes its pairs one after the
// other. Meetings of one round run at the same time, without waiting for each other:
//
//   round 0   hosts 1-3: (r5,r9) (r4,r8) (r5,r8) ...      host 0: (r1,r3) (r0,r2) ...      host 2: ...
//   round 1   hosts 0-1: ...                              hosts 2-3: ...
//             | step     | step + 1 | ...
//
// Hosts and ranks take their numbers at random, and rounds come in random order. In rank order, what depends
// on time (a slow start, a passing disturbance) would hit the first ranks, or pairs (i, j) with i + j
// constant, and show in the matrix as a corner or as diagonal bands; so it is noise instead. Nothing is
// stored for each pair.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "probe/order.hpp"

namespace isochrone::mpi::probe {

class Rounds : public Order {
  public:
    /// `host_of_rank` holds for each rank any number that names its host; at least one rank.
    Rounds(const std::vector<int>& host_of_rank, std::uint64_t seed);

    [[nodiscard]] std::int64_t steps() const override { return start_.back(); }
    [[nodiscard]] std::vector<Turn> turns(int rank, std::int64_t first, std::int64_t last) const override;
    [[nodiscard]] std::vector<Turn> before(const Turn& turn) const override;
    [[nodiscard]] std::vector<Turn> after(const Turn& turn) const override;

  private:
    /// Two hosts, or one twice, in one round. `first` is never the greater.
    struct Meeting {
        int round = 0;
        int first = 0;
        int second = 0;
    };

    [[nodiscard]] Meeting meeting(int round, int host) const;
    [[nodiscard]] static std::vector<int> hosts_of(const Meeting& meeting);
    [[nodiscard]] std::int64_t length(const Meeting& meeting) const;
    [[nodiscard]] Turn turn(const Meeting& meeting, std::int64_t index) const;
    [[nodiscard]] std::pair<Meeting, std::int64_t> find(const Turn& turn) const;
    [[nodiscard]] std::int64_t ranks_of(int host) const;
    [[nodiscard]] int host_count() const { return static_cast<int>(members_.size()); }

    std::uint64_t seed_;
    std::vector<std::vector<int>> members_;  ///< ranks of each host, in random order
    std::vector<int> host_;                  ///< of each rank
    std::vector<int> position_;              ///< of each rank among the members of its host
    std::vector<int> sum_;                   ///< of each round: what the numbers of hosts that meet add up to
    std::vector<std::int64_t> start_;        ///< step at which each round starts; one more for the end
};

}  // namespace isochrone::mpi::probe
