// SPDX-License-Identifier: BSD-3-Clause
//
// The exchanges between all, one row each. A new one needs its file and its row here, nothing else.
#include <array>

#include "algorithms/alltoall/bruck.hpp"
#include "algorithms/alltoall/linear.hpp"

namespace isochrone::core::algorithms {
namespace {

constexpr auto table = std::to_array<Algorithm>({
    {.name = "linear",
     .words = "direct messages",
     .good_for = "medium blocks: many messages are under way at once",
     .source = "Thakur et al., IJHPCA 19, 2005, section 4.2",
     .default_parameter = schedule::most_under_way,
     .append = alltoall::linear,
     .tuned = {8, schedule::most_under_way},
     .quadratic_messages = true},
    {.name = "pairwise",
     .words = "pairwise exchange",
     .good_for = "large blocks: each rank sends one and receives one at a time",
     .source = "Thakur et al., IJHPCA 19, 2005, section 4.2",
     .append = alltoall::pairwise,
     .quadratic_messages = true},
    {.name = "bruck",
     .words = "Bruck's algorithm",
     .good_for = "small blocks: as few rounds as can be",
     .source = "Bruck et al., IEEE TPDS 8, 1997; Thakur et al., IJHPCA 19, 2005, section 4.2",
     .append = alltoall::bruck,
     .equal_only = true},
});

}  // namespace

Table alltoall_table() { return table; }

}  // namespace isochrone::core::algorithms
