// SPDX-License-Identifier: BSD-3-Clause
//
// What a lab is made of, read from the JSON text that `isochrone lab up` writes:
//   {"nodes": [{"name": "core", "parent": null},
//              {"name": "rack0", "parent": 0, "bytes_per_s": 1.25e8, "delay_s": 9.5e-4, "queue_bytes":
//              67108864},
//              {"name": "h0", "parent": 1, …, "address": "10.77.0.1"}]}
// Parents come before their children. Hosts are the nodes with an address. A rate of 0 is not limited.
#pragma once

#include <string>
#include <vector>

#include "network.hpp"

namespace isochrone::lab {

struct HostName {
    std::string name;
    std::string address;  ///< IPv4, in 10.77.0.0/16
};

struct Description {
    std::vector<Node> nodes;
    std::vector<HostName> hosts;  ///< in the order of Network::hosts()
};

/// Throws std::invalid_argument, in one line.
[[nodiscard]] Description parse_description(const std::string& text);

}  // namespace isochrone::lab
