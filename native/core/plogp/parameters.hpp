// SPDX-License-Identifier: BSD-3-Clause
//
// The parameters of one kind of link in the parameterised LogP model (Kielmann, Bal and Verstoep, IPDPS
// 2000).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace isochrone::core::plogp {

/// A quantity that depends on the message size, as points (bytes, seconds) in ascending order of bytes:
/// straight lines between them, the last line continued beyond the last point, zero if there are none.
struct Curve {
    std::vector<std::pair<std::int64_t, double>> points;

    [[nodiscard]] double at(std::int64_t size_bytes) const;
};

/// A message of m bytes that is sent at time 0 is received at latency_s + gap_s(m) (+ receive overhead); the
/// sender's processor is busy for send_overhead_s(m), and its way out for gap_s(m).
struct Parameters {
    double latency_s = 0;
    Curve send_overhead_s;
    Curve receive_overhead_s;
    Curve gap_s;
    /// What all pairs that leave one group of the level below get together; 0: not known.
    double capacity_bytes_per_s = 0;
};

/// What of an overhead is work. The rest is waiting, for a slow link or for the receiver, and leaves the
/// processor to others: a send that was measured waited for its end, one that does not block does not. So a
/// message of m bytes is charged the least of: its overhead o(m); o(0) + g(m); and m/k times the overhead of
/// a shorter one of k bytes, which many of them would be.
[[nodiscard]] double work_s(const Parameters& links, const Curve& overhead_s, std::int64_t size_bytes);

/// The parameters of links whose latency is half of a round trip, as topologies tell it: the receiver's
/// overhead of the smallest message is a part of that. A larger message's overhead is not told apart from its
/// gap.
[[nodiscard]] Parameters of_round_trip(Parameters told);

}  // namespace isochrone::core::plogp
