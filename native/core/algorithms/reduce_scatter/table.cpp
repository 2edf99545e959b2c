// SPDX-License-Identifier: BSD-3-Clause
//
// The reductions whose result is scattered, one row each. A new one needs its file and its row here, nothing
// else.
#include <array>

#include "algorithms/reduce_scatter/along.hpp"
#include "algorithms/reduce_scatter/pairwise.hpp"
#include "algorithms/reduce_scatter/recursive_halving.hpp"
#include "algorithms/reduce_scatter/ring.hpp"

namespace isochrone::core::algorithms {
namespace {

constexpr auto table = std::to_array<Algorithm>({
    {"flat", "a flat tree", "few ranks, or links so slow that a second hop costs more than all sends",
     "Kielmann et al., MagPIe, PPoPP 1999, section 4", 0, 0, reduce_scatter::along<trees::flat>},
    {"binomial", "a binomial tree", "small blocks, and operands that keep their order",
     "Thakur et al., IJHPCA 19, 2005, section 4.4", 0, 0, reduce_scatter::along<trees::binomial>},
    {.name = "recursive_halving",
     .words = "recursive halving",
     .good_for = "small and medium blocks: few rounds, and every rank sends each byte about once",
     .source = "Thakur et al., IJHPCA 19, 2005, section 4.4",
     .append = reduce_scatter::recursive_halving,
     .commutative_only = true},
    {.name = "pairwise",
     .words = "pairwise exchange",
     .good_for = "large blocks: each crosses one link only",
     .source = "Thakur et al., IJHPCA 19, 2005, section 4.4",
     .append = reduce_scatter::pairwise,
     .quadratic_messages = true,
     .commutative_only = true},
    {.name = "ring",
     .words = "a ring",
     .good_for = "large blocks: only neighbours talk",
     .source = "Patarasuk and Yuan, JPDC 69, 2009",
     .append = reduce_scatter::ring,
     .quadratic_messages = true,
     .commutative_only = true},
});

}  // namespace

Table reduce_scatter_table() { return table; }

}  // namespace isochrone::core::algorithms
