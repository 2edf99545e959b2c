// SPDX-License-Identifier: BSD-3-Clause
//
// Where ranks run: host, CPUs, and the kind of hardware.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include "topology/topology.hpp"

namespace isochrone::mpi::comm {

using core::topology::Place;

/// The place of this rank, as a text for places_of(): for who sends it together with more. Under SimGrid a
/// core is a host of its own, named NODE.cK: that is host NODE and CPU K. Where the text would be longer than
/// `longest` it has no CPUs, as of a rank that is not bound.
[[nodiscard]] std::string place_text(std::size_t longest);

/// The same of any place. `machine` is what tells the machine from others of its name.
[[nodiscard]] std::string place_text(const Place& place, const std::string& machine);

/// What the kernel calls this boot of the machine: equal in all containers on it, and on no other machine.
/// Empty where it does not tell.
[[nodiscard]] std::string boot_id();

/// The places of ranks from their texts. The domain is cut off host names, except where two hosts would then
/// have one name. Where several machines have one name, as containers on them may, each has the beginning of
/// its boot id after it: NAME~3f2a1c90.
[[nodiscard]] std::vector<Place> places_of(const std::vector<std::string>& texts);

/// The place of every rank of `comm`, on every rank. Collective.
[[nodiscard]] std::vector<Place> gather_places(MPI_Comm comm);

/// Cuts the domains off host names, except of those that would then be ambiguous and of numeric addresses.
[[nodiscard]] std::vector<std::string> short_host_names(const std::vector<std::string>& names);

}  // namespace isochrone::mpi::comm
