// SPDX-License-Identifier: BSD-3-Clause
//
// Prices the schedules of all ranks with the parameters of a topology: a discrete-event simulation under
// PLogP (Kielmann, Bal and Verstoep, IPDPS 2000), with ways that many pairs share. What may start when is
// asked of schedule::Progress, as the executor does.
//
// A message of m bytes between ranks that meet at level l, with L, o_s(m), o_r(m) and g(m) of that level:
//
//   sender's processor    |o_s(m)|                          from c = when it has nothing else to do
//   sender's way out      |   g(m)   |                      from s = max(c, when the one before, to the same
//   group's way out       | m / C |                             receiver, has left)
//   group's way in               ... L ...  | m / C |
//   receiver's way in            ... L ...  |   g(m)   |
//   receiver's processor                               |o_r(m)|  once the receive is posted
//
// So one message alone costs L + g(m) + o_r(m), which is what half of a measured round trip is (L, half of
// RTT(0), holds the sender's overhead); k messages from one sender cost about k max(g(m), o_s(m)) + L +
// o_r(m); and a chain of k hops with n segments of m bytes about k (L + g(m)) + (n - 1) g(m).
//
// Ways are divided. Each divides itself equally among the pairs of ranks that have messages on it, as
// connections divide a link: while n have, a message gets through 1/n of what it would alone. Messages
// between the same two ranks are served in their order, as on one connection. What each message takes by
// itself, g(0), is done in the order of messages, whoever they are for; all of these together count as one
// pair. So k messages of one sender to k receivers are all there after k g(m), and of empty ones the first
// after g(0) (sharing.hpp). All ways are taken cut-through: a message is on each way of its side from when
// its head leaves or arrives on, and through when it is through all. A message that one way holds up gets
// its share of the others nevertheless, what it leaves of it is not given to others.
//
// Of o_s(m) only what is work is charged (plogp::work_s): where a blocking send waited for its receiver, o_s
// as measured holds that wait, but the executor's sends do not block.
//
// Shared ways. A message that meets at level l leaves the group of its sender, and enters that of its
// receiver, at each of the levels k > l. Such a group has one way out and one way in, of C =
// links[k-1].capacity_bytes_per_s. Where that is not known, groups of level "node" and of all levels outside
// it share what one pair gets: the slope of links[k-1].gap_s, but no more than gap_s(m) a message. Inside a
// node nothing is shared unless it was measured.
//
// Local work: a copy or a reduction of m bytes keeps the processor busy for m gamma_s_per_byte.
//
// The library's own broadcast, which nobody can look into, is priced as a binomial tree of the n ranks of the
// group with the links of its level and the gap taken once, as if pipelined: ceil(log2 n) (L + g(0) + o_r(m))
// + g(m) - g(0) from when the last rank enters. It loads no way, and ends everywhere at once.
//
// A message that is sent by rendezvous waits for its answer between the sender's processor and its way out,
// and keeps no way busy meanwhile; of g(m) above the rest is meant (plogp/rendezvous.hpp). So several in a
// row wait for their answers together, as many as the window lets.
//
// Limits: no send waits for its receiver (the receiver's lateness never delays the sender); buffers inside
// the network are unbounded; what one rank sends to several is no faster than what it sends to one
// (docs/models.md); no caches, no noise, no other jobs; all ranks start at time 0.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "place/layout.hpp"
#include "schedule/extents.hpp"
#include "schedule/schedule.hpp"
#include "simulate/timeline.hpp"

namespace isochrone::core::simulate {

struct Options {
    int window = 0;                   ///< of schedule::Progress: operations under way per peer and direction;
                                      ///< 0: as many as place::window says, which the executor asks too
    std::int64_t unit_bytes = 1;      ///< bytes of one unit of the extents: of an element, in reductions
    double gamma_s_per_byte = 1e-10;  ///< local copies and reductions
    Timeline* timeline = nullptr;     ///< filled, if it is given
    /// Nobody asks by how much it takes longer: then it is not simulated to its end, and takes infinitely
    /// long.
    double limit_s = std::numeric_limits<double>::infinity();
};

struct Outcome {
    std::vector<double> finish_s;           ///< [rank]: when its last operation was done
    double slowest_s = 0;                   ///< the largest of them
    std::int64_t messages = 0;              ///< point to point
    std::vector<std::int64_t> level_bytes;  ///< [level]: bytes of the messages between ranks that meet there
};

/// Runs `schedules[r]` with `extents[r]` on rank r of the layout. Throws std::invalid_argument, in one line,
/// if their numbers differ, two ranks that exchange a message meet at no level, the two ends of a message
/// differ in length, a rank waits for ever, or the timeline is not to hold that much. The same input gives
/// the same outcome to the last bit.
[[nodiscard]] Outcome simulate(const std::vector<schedule::Schedule>& schedules,
                               const std::vector<schedule::Extents>& extents, const place::Layout& layout,
                               const Options& options = {});

}  // namespace isochrone::core::simulate
