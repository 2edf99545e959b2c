// SPDX-License-Identifier: BSD-3-Clause
//
// The collectives, one row each.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "collectives/claims.hpp"
#include "collectives/collective.hpp"

namespace isochrone::core::collectives {
namespace {

using algorithms::allgather_table;
using algorithms::allreduce_table;
using algorithms::alltoall_table;
using algorithms::barrier_table;
using algorithms::bcast_table;
using algorithms::gather_table;
using algorithms::reduce_scatter_table;
using algorithms::reduce_table;
using algorithms::scan_table;
using algorithms::scatter_table;

constexpr auto table = std::to_array<Collective>({
    {.name = "bcast",
     .words = "broadcast",
     .rooted = true,
     .across = bcast_table,
     .down = bcast_table,
     .contents = bcast_contents},
    {.name = "reduce",
     .words = "reduction",
     .rooted = true,
     .reduces = true,
     .input = Holds::message,
     .up = reduce_table,
     .across = reduce_table,
     .contents = reduce_contents},
    {.name = "allreduce",
     .words = "allreduce",
     .reduces = true,
     .input = Holds::message,
     .up = reduce_table,
     .across = allreduce_table,
     .down = bcast_table,
     .contents = allreduce_contents},
    // An allreduce of nothing.
    {.name = "barrier",
     .words = "barrier",
     .has_data = false,
     .output = Holds::nothing,
     .up = reduce_table,
     .across = barrier_table,
     .down = bcast_table,
     .contents = allreduce_contents,
     .idempotent = true},
    {.name = "gather",
     .words = "gather",
     .rooted = true,
     .input = Holds::own_block,
     .output = Holds::all_blocks,
     .agreed = Agreed::block,
     .up = gather_table,
     .across = gather_table,
     .contents = gather_contents},
    {.name = "gatherv",
     .words = "gatherv",
     .rooted = true,
     .input = Holds::own_block,
     .output = Holds::all_blocks,
     .agreed = Agreed::nothing,
     .up = gather_table,
     .across = gather_table,
     .contents = gather_contents},
    {.name = "scatter",
     .words = "scatter",
     .rooted = true,
     .input = Holds::all_blocks,
     .output = Holds::own_block,
     .agreed = Agreed::block,
     .across = scatter_table,
     .down = scatter_table,
     .contents = scatter_contents},
    {.name = "scatterv",
     .words = "scatterv",
     .rooted = true,
     .input = Holds::all_blocks,
     .output = Holds::own_block,
     .agreed = Agreed::nothing,
     .across = scatter_table,
     .down = scatter_table,
     .contents = scatter_contents},
    {.name = "allgather",
     .words = "allgather",
     .input = Holds::own_block,
     .output = Holds::all_blocks,
     .agreed = Agreed::block,
     .up = gather_table,
     .across = allgather_table,
     .down = bcast_table,
     .contents = allgather_contents},
    {.name = "allgatherv",
     .words = "allgatherv",
     .input = Holds::own_block,
     .output = Holds::all_blocks,
     .agreed = Agreed::blocks,
     .up = gather_table,
     .across = allgather_table,
     .down = bcast_table,
     .contents = allgather_contents},
    {.name = "alltoall",
     .words = "alltoall",
     .input = Holds::all_blocks,
     .output = Holds::all_blocks,
     .agreed = Agreed::block,
     .across = alltoall_table,
     .down = alltoall_table,
     .contents = alltoall_contents},
    {.name = "alltoallv",
     .words = "alltoallv",
     .input = Holds::all_blocks,
     .output = Holds::all_blocks,
     .agreed = Agreed::nothing,
     .across = alltoall_table,
     .down = alltoall_table,
     .contents = alltoall_contents},
    // To schedules it is an alltoallv: its datatypes are known to each rank alone.
    {.name = "alltoallw",
     .words = "alltoallw",
     .input = Holds::all_blocks,
     .output = Holds::all_blocks,
     .agreed = Agreed::nothing,
     .across = alltoall_table,
     .down = alltoall_table,
     .contents = alltoall_contents},
    {.name = "reduce_scatter_block",
     .words = "reduce_scatter_block",
     .reduces = true,
     .input = Holds::all_blocks,
     .output = Holds::own_block,
     .agreed = Agreed::block,
     .up = reduce_table,
     .across = reduce_scatter_table,
     .down = scatter_table,
     .contents = reduce_scatter_contents},
    {.name = "reduce_scatter",
     .words = "reduce_scatter",
     .reduces = true,
     .input = Holds::all_blocks,
     .output = Holds::own_block,
     .agreed = Agreed::blocks,
     .up = reduce_table,
     .across = reduce_scatter_table,
     .down = scatter_table,
     .contents = reduce_scatter_contents},
    {.name = "scan",
     .words = "scan",
     .reduces = true,
     .input = Holds::message,
     .up = scan_table,
     .across = scan_table,
     .down = bcast_table,
     .contents = scan_contents,
     .in_order = true},
    {.name = "exscan",
     .words = "exclusive scan",
     .reduces = true,
     .input = Holds::message,
     .up = scan_table,
     .across = scan_table,
     .down = bcast_table,
     .contents = exscan_contents,
     .in_order = true,
     .skips_first = true},
});

}  // namespace

std::span<const Collective> all() { return table; }

const Collective* find(std::string_view name) {
    const auto row =
        std::find_if(table.begin(), table.end(), [&](const Collective& one) { return one.name == name; });
    return row == table.end() ? nullptr : &*row;
}

const Collective& named(std::string_view name) {
    const Collective* found = find(name);
    if (found == nullptr) {
        throw std::invalid_argument("there is no collective '" + std::string(name.substr(0, 100)) + "'");
    }
    return *found;
}

}  // namespace isochrone::core::collectives
