// SPDX-License-Identifier: BSD-3-Clause
//
// The reductions to a root, one row each. A new one needs its file and its row here, nothing else.
#include <array>

#include "algorithms/reduce/along.hpp"
#include "algorithms/reduce/rabenseifner.hpp"

namespace isochrone::core::algorithms {
namespace {

constexpr auto table = std::to_array<Algorithm>({
    {"flat", "a flat tree", "few ranks, or links so slow that a second hop costs more than all sends",
     "Kielmann et al., MagPIe, PPoPP 1999, section 3", 0, 0, reduce::along<trees::flat>},
    {"chain", "a chain", "a single long message over links that are best used one at a time",
     "Pjesivac-Grbovic et al., Cluster Computing 10, 2007, section 3", 0, 0, reduce::along<trees::chain>},
    {"pipeline", "a pipeline", "large messages: every link is busy with another segment",
     "Pjesivac-Grbovic et al., Cluster Computing 10, 2007, section 3", 0, 32768, reduce::along<trees::chain>},
    {"chains",
     "chains side by side",
     "large messages: a pipeline whose depth is divided, where the root can take several",
     "Open MPI, chain with a fan-out",
     4,
     32768,
     reduce::along<trees::chains>,
     {2, 4, 8}},
    {.name = "binary",
     .words = "a binary tree",
     .good_for = "medium and large messages in segments, where a chain is too deep",
     .source = "Pjesivac-Grbovic et al., Cluster Computing 10, 2007, section 3",
     .append = reduce::along<trees::binary>,
     .commutative_only = true,
     .tree = trees::binary},
    {"in_order_binary", "a binary tree in the order of ranks",
     "medium and large messages in segments, where operands may not change places",
     "Open MPI, in-order binary tree, with the first rank on top instead of the last", 0, 0,
     reduce::along<trees::in_order_binary>},
    {.name = "binomial",
     .words = "a binomial tree",
     .good_for = "small messages",
     .source = "Thakur et al., IJHPCA 19, 2005, section 4.5",
     .append = reduce::along<trees::binomial>,
     .tree = trees::binomial},
    {.name = "knomial",
     .words = "a k-nomial tree",
     .good_for = "small messages where sending costs little beside the latency",
     .source = "Ruefenacht et al., Parallel Computing 69, 2017; k-nomial trees",
     .default_parameter = 4,
     .append = reduce::along<trees::knomial>,
     .tuned = {4, 8},
     .tree = trees::knomial},
    {.name = "rabenseifner",
     .words = "Rabenseifner's algorithm",
     .good_for = "large messages: few rounds, and all take part in combining",
     .source = "Rabenseifner, ICCS 2004; Thakur et al., IJHPCA 19, 2005, section 4.5",
     .append = reduce::rabenseifner,
     .commutative_only = true},
});

}  // namespace

Table reduce_table() { return table; }

}  // namespace isochrone::core::algorithms
