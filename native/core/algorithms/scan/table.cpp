// SPDX-License-Identifier: BSD-3-Clause
//
// The scans, with a member's own operand or without, one row each. A new one needs its file and its row here,
// nothing else.
#include <array>

#include "algorithms/scan/chain.hpp"
#include "algorithms/scan/linear.hpp"
#include "algorithms/scan/recursive_doubling.hpp"

namespace isochrone::core::algorithms {
namespace {

constexpr auto table = std::to_array<Algorithm>({
    {.name = "chain",
     .words = "a chain",
     .good_for = "few ranks, and large messages in segments",
     .source = "MPI-3.1, section 5.11; linear",
     .append = scan::chain},
    {.name = "linear",
     .words = "direct messages",
     .good_for = "few ranks and small messages: one round",
     .source = "MPI-3.1, section 5.11",
     .append = scan::linear,
     .quadratic_messages = true},
    {.name = "recursive_doubling",
     .words = "recursive doubling",
     .good_for = "small messages: as few rounds as can be",
     .source = "Hillis and Steele, CACM 29, 1986; MPICH",
     .append = scan::recursive_doubling},
});

}  // namespace

Table scan_table() { return table; }

}  // namespace isochrone::core::algorithms
