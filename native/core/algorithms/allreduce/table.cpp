// SPDX-License-Identifier: BSD-3-Clause
//
// The allreduces, one row each. A new one needs its file and its row here, nothing else.
#include <array>

#include "algorithms/allreduce/along.hpp"
#include "algorithms/allreduce/rabenseifner.hpp"
#include "algorithms/allreduce/recursive_doubling.hpp"
#include "algorithms/allreduce/recursive_multiplying.hpp"
#include "algorithms/allreduce/ring.hpp"

namespace isochrone::core::algorithms {
namespace {

constexpr auto table = std::to_array<Algorithm>({
    {"flat", "a flat tree", "few ranks, or links so slow that a second hop costs more than all sends",
     "Kielmann et al., MagPIe, PPoPP 1999, section 4", 0, 0, allreduce::along<trees::flat>},
    {"pipeline", "a pipeline", "large messages: every link is busy with another segment",
     "Pjesivac-Grbovic et al., Cluster Computing 10, 2007, section 3", 0, 32768,
     allreduce::along<trees::chain>},
    {.name = "binomial",
     .words = "a binomial tree",
     .good_for = "small messages",
     .source = "Thakur et al., IJHPCA 19, 2005, section 4.5",
     .append = allreduce::along<trees::binomial>,
     .tree = trees::binomial},
    {.name = "knomial",
     .words = "a k-nomial tree",
     .good_for = "small messages where sending costs little beside the latency",
     .source = "Ruefenacht et al., Parallel Computing 69, 2017; k-nomial trees",
     .default_parameter = 4,
     .append = allreduce::along<trees::knomial>,
     .tuned = {4, 8},
     .tree = trees::knomial},
    {"recursive_doubling", "recursive doubling", "small messages: as few rounds as can be",
     "Thakur et al., IJHPCA 19, 2005, section 4.6", 0, 0, allreduce::recursive_doubling},
    {"recursive_multiplying", "recursive multiplying",
     "small messages where sending costs little beside the latency",
     "Ruefenacht et al., Parallel Computing 69, 2017; recursive multiplying", 4, 0,
     allreduce::recursive_multiplying},
    {.name = "rabenseifner",
     .words = "Rabenseifner's algorithm",
     .good_for = "large messages: few rounds, and every rank sends each byte about twice",
     .source = "Rabenseifner, ICCS 2004; Thakur et al., IJHPCA 19, 2005, section 4.6",
     .append = allreduce::rabenseifner,
     .commutative_only = true},
    {.name = "ring",
     .words = "a ring",
     .good_for = "large messages: only neighbours talk, and every rank sends each byte about twice",
     .source = "Patarasuk and Yuan, JPDC 69, 2009",
     .append = allreduce::ring,
     .quadratic_messages = true,
     .commutative_only = true},
});

}  // namespace

Table allreduce_table() { return table; }

}  // namespace isochrone::core::algorithms
