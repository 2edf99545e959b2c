// SPDX-License-Identifier: BSD-3-Clause
//
// The gathers, one row each; a scatter goes the same ways in the other direction. A new one needs its file
// and its row here, nothing else.
#include <array>

#include "algorithms/gather/along.hpp"

namespace isochrone::core::algorithms {
namespace {

constexpr auto table = std::to_array<Algorithm>({
    {"flat", "a flat tree", "large blocks: each crosses one link only",
     "Kielmann et al., MagPIe, PPoPP 1999, section 4; linear", 0, 0, gather::along<trees::flat>},
    {"chain", "a chain", "links that are best used one at a time",
     "Pjesivac-Grbovic et al., Cluster Computing 10, 2007, section 3", 0, 0, gather::along<trees::chain>},
    {"binary", "a binary tree", "small blocks, where a root can take two messages at once",
     "Pjesivac-Grbovic et al., Cluster Computing 10, 2007, section 3", 0, 0, gather::along<trees::binary>},
    {"binomial", "a binomial tree", "small blocks", "Thakur et al., IJHPCA 19, 2005, section 4.3", 0, 0,
     gather::along<trees::binomial>},
    {"knomial",
     "a k-nomial tree",
     "small blocks where a message costs little beside the latency",
     "Ruefenacht et al., Parallel Computing 69, 2017; k-nomial trees",
     4,
     0,
     gather::along<trees::knomial>,
     {4, 8}},
});

}  // namespace

Table gather_table() { return table; }
Table scatter_table() { return table; }

}  // namespace isochrone::core::algorithms
