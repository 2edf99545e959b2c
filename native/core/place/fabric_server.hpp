// SPDX-License-Identifier: BSD-3-Clause
//
// How programs are told which fabric server to ask, and for what.
#pragma once

#include <string>
#include <string_view>

#include "place/delays.hpp"

namespace isochrone::core::place {

/// What is asked, and whom.
struct FabricServer {
    DelayBy by = DelayBy::time;
    std::string host;
    std::string port;
};

/// Reads "[hops@|speed@|time@]HOST:PORT"; an IPv6 address stands in brackets. Throws std::invalid_argument,
/// in one line, for anything else.
[[nodiscard]] FabricServer parse_fabric_server(std::string_view text);

}  // namespace isochrone::core::place
