// SPDX-License-Identifier: BSD-3-Clause
//
// A host of the lab: a process that keeps namespaces of its own (network, name, mounts, System V memory), and
// does nothing else. Its network card is a TAP device; what the host sends and receives goes through the file
// descriptor that it gives to the relay.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "description.hpp"

namespace isochrone::lab {

using HardwareAddress = std::array<std::uint8_t, 6>;

/// The Ethernet address of host number `host`.
[[nodiscard]] HardwareAddress hardware_address(int host);
/// The host of an address that `hardware_address` gave, or -1.
[[nodiscard]] int host_of(const std::uint8_t* hardware_address);

struct Host {
    pid_t process = 0;
    int tap = -1;  ///< non-blocking; frames with a virtio_net_hdr before them
};

/// Starts host number `number` of `hosts`. Throws std::runtime_error, in one line, if the system does not let
/// it.
[[nodiscard]] Host start_host(const std::vector<HostName>& hosts, int number);

}  // namespace isochrone::lab
