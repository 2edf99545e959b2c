// SPDX-License-Identifier: BSD-3-Clause
//
// What of a gap is work, and what is waiting for an answer.
#pragma once

#include <cstdint>

#include "plogp/parameters.hpp"

namespace isochrone::core::plogp {

/// A message above the eager limit is sent by rendezvous: its sender asks, and sends when the answer is
/// there. That is a round trip, which a gap that was measured with one message at a time holds too. But it
/// keeps nothing busy: while one message waits for its answer, others may be on the way.
///
///   gap_s(m)   |  asking: up to 2 L  |  busy: what m bytes take  |
///
/// Bytes take what they take between the two largest sizes. Where a gap is longer than that by L or more, of
/// the round trip most is in it: then what is longer, up to 2 L, is asking. Between a size that asks and one
/// that does not, where the limit is unknown, both parts are on straight lines, as the gap is.
class Rendezvous {
  public:
    explicit Rendezvous(const Parameters& links);

    /// Seconds from when a message of that size may be sent until it is.
    [[nodiscard]] double asking_s(std::int64_t size_bytes) const;
    /// Seconds that it keeps its way busy, of gap_s.
    [[nodiscard]] double busy_s(std::int64_t size_bytes) const;

  private:
    Curve gap_s_;
    Curve asking_s_;
    double round_trip_s_ = 0;
};

}  // namespace isochrone::core::plogp
