// SPDX-License-Identifier: BSD-3-Clause
//
// Asks the server of a fabric's routes, `isochrone fabric serve`, how far hosts are apart. Its lines stand in
// core/fabric/service.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "comm/place.hpp"
#include "place/fabric_server.hpp"
#include "place/layout.hpp"

namespace isochrone::mpi::fabric {

/// Numbers of the hosts of ranks in the order in which they come, and their names.
struct Hosts {
    std::vector<int> of_rank;
    std::vector<std::string> names;
};

/// Those that ranks are on.
[[nodiscard]] Hosts hosts_of(const std::vector<comm::Place>& ranks);

/// Delays between all hosts, for set_delays on every rank. To be called by one rank, which sends them to the
/// others as they are. Takes a few seconds at most. Throws std::runtime_error, in one line, if there is no
/// answer, or a host is not on the fabric.
[[nodiscard]] std::string ask(const core::place::FabricServer& server, const std::vector<std::string>& hosts);

/// Gives the ranks of a layout what `ask` has brought. Throws std::invalid_argument if it is of other hosts.
void set_delays(core::place::Layout& layout, Hosts hosts, std::string_view asked);

}  // namespace isochrone::mpi::fabric
