// SPDX-License-Identifier: BSD-3-Clause
//
// The barriers, one row each. A new one needs its file and its row here, nothing else.
#include <array>

#include "algorithms/allreduce/along.hpp"
#include "algorithms/allreduce/recursive_doubling.hpp"
#include "algorithms/barrier/dissemination.hpp"
#include "algorithms/barrier/double_ring.hpp"

namespace isochrone::core::algorithms {
namespace {

constexpr auto table = std::to_array<Algorithm>({
    {"flat", "a flat tree", "few ranks, or links so slow that a second hop costs more than all messages",
     "Hensgen et al., Int. J. Parallel Programming 17, 1988; linear", 0, 0, allreduce::along<trees::flat>},
    {.name = "binomial",
     .words = "a binomial tree",
     .good_for = "as few messages as can be",
     .source = "Hensgen et al., Int. J. Parallel Programming 17, 1988; tournament",
     .append = allreduce::along<trees::binomial>,
     .tree = trees::binomial},
    {"recursive_doubling", "recursive doubling", "powers of two: as few rounds as can be",
     "Thakur et al., IJHPCA 19, 2005, section 4.6", 0, 0, allreduce::recursive_doubling},
    {"dissemination", "dissemination", "any number of ranks: as few rounds as can be",
     "Hensgen et al., Int. J. Parallel Programming 17, 1988; n-way: Hoefler et al., IPDPS 2006", 2, 0,
     barrier::dissemination},
    {.name = "knomial",
     .words = "a k-nomial tree",
     .good_for = "as few messages as can be, where sending costs little beside the latency",
     .source = "Ruefenacht et al., Parallel Computing 69, 2017; k-nomial trees",
     .default_parameter = 4,
     .append = allreduce::along<trees::knomial>,
     .tree = trees::knomial},
    {"double_ring", "a double ring", "few ranks: only neighbours talk, one at a time",
     "Open MPI, double ring", 0, 0, barrier::double_ring},
});

}  // namespace

Table barrier_table() { return table; }

}  // namespace isochrone::core::algorithms
