// SPDX-License-Identifier: BSD-3-Clause
//
// What this host is made of, in one line that equal hosts share.
#pragma once

#include <string>

namespace isochrone::mpi::comm {

/// For example "2x64x2 l3=32 AMD EPYC 7742 64-Core Processor": packages x cores per package x threads per
/// core, groups of CPUs that share a last-level cache, and the model. Where packages differ, the product is
/// written as sums: "2p 96c 192t". Parts that the system does not tell are left out; "unknown" if it tells
/// none.
[[nodiscard]] std::string hardware_signature();

}  // namespace isochrone::mpi::comm
