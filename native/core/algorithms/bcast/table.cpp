// SPDX-License-Identifier: BSD-3-Clause
//
// The broadcasts, one row each. A new one needs its file and its row here, nothing else.
#include <array>

#include "algorithms/algorithm.hpp"
#include "algorithms/bcast/along.hpp"
#include "algorithms/bcast/scatter_allgather.hpp"
#include "algorithms/bcast/scatter_rd_allgather.hpp"
#include "algorithms/bcast/split_binary.hpp"

namespace isochrone::core::algorithms {
namespace {

constexpr auto table = std::to_array<Algorithm>({
    {"flat", "a flat tree", "few ranks, or links so slow that a second hop costs more than all sends",
     "Kielmann et al., MagPIe, PPoPP 1999, section 3", 0, 0, bcast::along<trees::flat>},
    {"chain", "a chain", "a single long message over links that are best used one at a time",
     "Pjesivac-Grbovic et al., Cluster Computing 10, 2007, section 3", 0, 0, bcast::along<trees::chain>},
    {"pipeline", "a pipeline", "large messages: every link is busy with another segment",
     "Wadsworth and Chen, IPDPS 2008, section 2; van de Geijn's pipelined chain", 0, 32768,
     bcast::along<trees::chain>},
    {"chains",
     "chains side by side",
     "large messages: a pipeline whose depth is divided, where the root can feed several",
     "Open MPI, chain with a fan-out",
     4,
     32768,
     bcast::along<trees::chains>,
     {2, 4, 8}},
    {.name = "binary",
     .words = "a binary tree",
     .good_for = "medium and large messages in segments, where a chain is too deep",
     .source = "Pjesivac-Grbovic et al., Cluster Computing 10, 2007, section 3",
     .append = bcast::along<trees::binary>,
     .tree = trees::binary},
    {.name = "binomial",
     .words = "a binomial tree",
     .good_for = "small messages",
     .source = "Thakur et al., IJHPCA 19, 2005, section 4.4",
     .append = bcast::along<trees::binomial>,
     .tree = trees::binomial},
    {.name = "knomial",
     .words = "a k-nomial tree",
     .good_for = "small messages where sending costs little beside the latency",
     .source = "Ruefenacht et al., Parallel Computing 69, 2017; k-nomial trees",
     .default_parameter = 4,
     .append = bcast::along<trees::knomial>,
     .tuned = {4, 8},
     .tree = trees::knomial},
    {"split_binary", "a split binary tree",
     "medium and large messages: inner ranks send three halves, not two wholes",
     "Open MPI, split_binary_tree", 0, 65536, bcast::split_binary},
    {"scatter_rd_allgather", "a scatter and an allgather by doubling",
     "medium messages: scatter_allgather in fewer rounds, with partners farther away",
     "Thakur et al., IJHPCA 19, 2005, section 4.4", 0, 0, bcast::scatter_rd_allgather},
    {"scatter_allgather",
     "a scatter and an allgather",
     "large messages: every rank sends each byte about once",
     "Thakur et al., IJHPCA 19, 2005, section 4.4; van de Geijn",
     0,
     0,
     bcast::scatter_allgather,
     {},
     true},
});

}  // namespace

Table bcast_table() { return table; }

}  // namespace isochrone::core::algorithms
