// SPDX-License-Identifier: BSD-3-Clause
//
// Where ranks are without a survey: by the names of their hosts and what the hosts are made of, with links of
// the parameters that their kind usually has.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "place/layout.hpp"

namespace isochrone::core::place {

/// The levels inside a node, outermost first.
inline constexpr std::array<const char*, 3> inner_levels{"socket", "numa", "l3"};

/// Where one rank is bound.
struct Seat {
    std::string host;
    /// The number of its group at each of the inner levels, unique within the host; -1: bound to several, or
    /// not at all.
    std::array<int, inner_levels.size()> inner{-1, -1, -1};
};

/// The levels are "machine" (where there are several hosts), "node", and those inside that divide the ranks
/// of some node further.
///
/// Links are of classes, and right within a factor of ten at best: messages between processes of one node go
/// through a shared cache (0.3 us, 10 GB/s), a socket's memory (0.5 us, 8 GB/s) or between sockets (1 us, 5
/// GB/s); those between nodes over Ethernet of 10
/// Gbit/s by TCP (25 us, 1.2 GB/s), which lies between the 1 Gbit/s of small clusters and the 100 Gbit/s of
/// large ones.
[[nodiscard]] Layout of_hardware(const std::vector<Seat>& seats);

/// Below it a round trip is one between near nodes: in the largest gap of some round trips between nodes,
/// where what is above it takes twice as long as what is below, or more. 0: there is none, and no node is
/// nearer than another.
[[nodiscard]] double near_below_s(std::vector<double> rtts_s);

/// Adds a level "switch" between machine and node, of groups of nodes with links of their own, unless it
/// would divide the ranks as one of these does. `group_of_node`: by the numbers of the level "node".
void add_switches(Layout& layout, const std::vector<int>& group_of_node, plogp::Parameters links);

/// Parameters for links between nodes of which two round trips are known: of nothing, and of a message.
[[nodiscard]] plogp::Parameters links_of(double empty_rtt_s, std::int64_t size_bytes, double rtt_s);

}  // namespace isochrone::core::place
