// SPDX-License-Identifier: BSD-3-Clause
//
// How far hosts are apart by the routes of a fabric (Subramoni et al., Design and Evaluation of Network
// Topology-/Speed-Aware Broadcast Algorithms for InfiniBand Clusters, section IV-B).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace isochrone::core::place {

struct Layout;

/// What a delay is: switches passed; the inverse of the speed of the slowest cable; or the time of a message
/// over the level at which two hosts meet, with its gap scaled by that speed.
enum class DelayBy : std::uint8_t { hops, speed, time };

/// The name of each, in that order.
inline constexpr std::string_view delay_names[] = {"hops", "speed", "time"};

/// Between hosts.
struct Delays {
    std::size_t hosts = 0;
    std::vector<float> of_pair;  ///< [from][to]; less is closer, infinite where no route arrives

    [[nodiscard]] float between(int from, int to) const {
        return of_pair[static_cast<std::size_t>(from) * hosts + static_cast<std::size_t>(to)];
    }
};

/// Gives ranks delays between their hosts.
///
/// `host_of` is the host of each rank, from 0. `figures` are of pairs of hosts, [from][to], as a fabric's
/// server gives them: switches passed for `hops`, infinite where no route arrives; Gb/s for the others, 0
/// where none does. `time` needs the links of levels, and takes a level's median speed for the one that was
/// measured. Throws std::invalid_argument if there are not as many figures as pairs.
void set_delays(Layout& layout, std::vector<int> host_of, DelayBy by, std::vector<float> figures);

}  // namespace isochrone::core::place
