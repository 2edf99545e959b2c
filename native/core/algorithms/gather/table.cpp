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
    {.name = "binary",
     .words = "a binary tree",
     .good_for = "small blocks, where a root can take two messages at once",
     .source = "Pjesivac-Grbovic et al., Cluster Computing 10, 2007, section 3",
     .append = gather::along<trees::binary>,
     .tree = trees::binary},
    {.name = "binomial",
     .words = "a binomial tree",
     .good_for = "small blocks",
     .source = "Thakur et al., IJHPCA 19, 2005, section 4.3",
     .append = gather::along<trees::binomial>,
     .tree = trees::binomial},
    {.name = "knomial",
     .words = "a k-nomial tree",
     .good_for = "small blocks where a message costs little beside the latency",
     .source = "Ruefenacht et al., Parallel Computing 69, 2017; k-nomial trees",
     .default_parameter = 4,
     .append = gather::along<trees::knomial>,
     .tuned = {4, 8},
     .tree = trees::knomial},
});

}  // namespace

Table gather_table() { return table; }
Table scatter_table() { return table; }

}  // namespace isochrone::core::algorithms
