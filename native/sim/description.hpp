// SPDX-License-Identifier: BSD-3-Clause
//
// What src/isochrone/sim/platform.py writes about a simulated cluster: everything is decided there, so that
// nothing here knows a network topology.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace isochrone::sim {

/// What one pair of cores sees when nothing else is under way. The latency is without the ranks' own
/// overheads.
struct Pair {
    double latency_s = 0;
    double bandwidth_bytes_per_s = 0;
};

/// Cores of a node in groups of equal size, whose members see each other as `pair`.
struct CoreGroups {
    std::size_t cores = 0;
    Pair pair;
    /// Of the way from one group of the level below into this one, each direction; none: not limited.
    std::optional<double> capacity_bytes_per_s;
};

/// From one node to another: what a pair sees, and which shared links it goes through.
struct Route {
    std::size_t from = 0;
    std::size_t to = 0;
    std::size_t pair = 0;
    std::vector<std::size_t> shared_links;
};

/// Every message takes its uncontended time times a lognormal factor of median 1.
struct Noise {
    double sigma = 0;
    std::uint64_t seed = 0;
    /// Send and receive overhead together, which are part of a message's time but of no link.
    double overhead_s = 0;
};

struct Description {
    std::vector<std::string> nodes;
    double core_capacity_bytes_per_s = 0;
    double nic_capacity_bytes_per_s = 0;
    std::vector<CoreGroups> core_groups;  ///< Innermost first; the last is the whole node.
    std::map<std::size_t, std::vector<CoreGroups>>
        slow_nodes;  ///< By number: those whose links are other ones.
    std::vector<Pair> pairs;
    std::vector<double> shared_link_capacity_bytes_per_s;
    std::vector<Route> routes;
    Noise noise;
};

/// Throws std::runtime_error, with the file's name, if it cannot be read or does not fit together.
[[nodiscard]] Description read_description(const std::string& path);

}  // namespace isochrone::sim
