// SPDX-License-Identifier: BSD-3-Clause
//
// The allgathers, one row each. A new one needs its file and its row here, nothing else.
#include <array>

#include "algorithms/allgather/bruck.hpp"
#include "algorithms/allgather/linear.hpp"
#include "algorithms/allgather/neighbour_exchange.hpp"
#include "algorithms/allgather/recursive_doubling.hpp"
#include "algorithms/allgather/ring.hpp"
#include "algorithms/allgather/sparbit.hpp"

namespace isochrone::core::algorithms {
namespace {

constexpr auto table = std::to_array<Algorithm>({
    {.name = "linear",
     .words = "direct messages",
     .good_for = "few ranks: one round",
     .source = "Pjesivac-Grbovic et al., Cluster Computing 10, 2007; linear",
     .append = allgather::linear,
     .quadratic_messages = true},
    {.name = "ring",
     .words = "a ring",
     .good_for = "large blocks: only neighbours talk",
     .source = "Thakur et al., IJHPCA 19, 2005, section 4.1",
     .append = allgather::ring,
     .quadratic_messages = true},
    {.name = "neighbour_exchange",
     .words = "neighbour exchange",
     .good_for = "large blocks: only neighbours talk, in half the rounds of a ring",
     .source = "Chen et al., HPC Asia 2005",
     .append = allgather::neighbour_exchange,
     .quadratic_messages = true},
    {.name = "recursive_doubling",
     .words = "recursive doubling",
     .good_for = "small and medium blocks: as few rounds as can be",
     .source = "Thakur et al., IJHPCA 19, 2005, section 4.1",
     .append = allgather::recursive_doubling},
    {.name = "bruck",
     .words = "Bruck's algorithm",
     .good_for = "small blocks on any number of ranks: as few rounds as can be",
     .source = "Bruck et al., IEEE TPDS 8, 1997; Thakur et al., IJHPCA 19, 2005, section 4.1",
     .append = allgather::bruck},
    {.name = "sparbit",
     .words = "striped binomial trees",
     .good_for = "ranks in the order of nodes: as few rounds as can be, half of the data between neighbours",
     .source = "Loch and Koslovski, arXiv:2109.08751, 2021; Sparbit",
     .append = allgather::sparbit},
});

}  // namespace

Table allgather_table() { return table; }

}  // namespace isochrone::core::algorithms
