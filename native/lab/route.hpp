// SPDX-License-Identifier: BSD-3-Clause
//
// How a host's connections to the others share links.
#pragma once

#include <netinet/in.h>

namespace isochrone::lab {

/// Of the hosts' connections: TCP's CUBIC, which Linux has where nobody chose another. Machines with another
/// one would change what a lab measures. BBR sends at the rates that earlier patterns of messages left each
/// connection, so that of two algorithms that take turns the second is slowed by the first.
inline constexpr const char* congestion_control = "cubic";

/// Of a network whose addresses have so many first bits in common.
[[nodiscard]] in_addr netmask(int prefix_bits);

/// The route that came with a card's address, with `congestion_control`. The system's setting is not touched:
/// a namespace may not have one that the machine has not allowed.
/// Throws std::runtime_error where the system has no such control, or gives no route.
void route_over(const char* card, in_addr address, int prefix_bits);

}  // namespace isochrone::lab
