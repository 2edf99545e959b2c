// SPDX-License-Identifier: BSD-3-Clause
//
// The scans, with a member's own operand or without, one row each. A new one needs its file and its row here,
// nothing else.
#include <array>

#include "algorithms/scan/chain.hpp"
#include "algorithms/scan/recursive_doubling.hpp"

namespace isochrone::core::algorithms {
namespace {

constexpr auto table = std::to_array<Algorithm>({
    {"chain", "a chain", "few ranks, and large messages in segments", "MPI-3.1, section 5.11; linear", 0, 0,
     scan::chain},
    {"recursive_doubling", "recursive doubling", "small messages: as few rounds as can be",
     "Hillis and Steele, CACM 29, 1986; MPICH", 0, 0, scan::recursive_doubling},
});

}  // namespace

Table scan_table() { return table; }

}  // namespace isochrone::core::algorithms
