// SPDX-License-Identifier: BSD-3-Clause
//
// What this host is made of, in one line that equal hosts share.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace isochrone::mpi::comm {

/// For example "2x64x2 l3=32 AMD EPYC 7742 64-Core Processor": packages x cores per package x threads per
/// core, groups of CPUs that share a last-level cache, and the model. Where packages differ, the product is
/// written as sums: "2p 96c 192t". Parts that the system does not tell are left out; "unknown" if it tells
/// none.
[[nodiscard]] std::string hardware_signature();

/// The socket, the NUMA node and the last-level cache that hold all of these CPUs, by number within this
/// host; -1 where several do, or the system does not tell.
[[nodiscard]] std::array<int, 3> hardware_groups(const std::vector<int>& cpus);

}  // namespace isochrone::mpi::comm
