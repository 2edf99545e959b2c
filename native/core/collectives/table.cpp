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

using algorithms::allreduce_table;
using algorithms::barrier_table;
using algorithms::bcast_table;
using algorithms::reduce_table;

constexpr auto table = std::to_array<Collective>({
    {.name = "bcast",
     .words = "broadcast",
     .rooted = true,
     .across = bcast_table,
     .down = bcast_table,
     .claims = bcast_claims},
    {.name = "reduce",
     .words = "reduction",
     .rooted = true,
     .reduces = true,
     .up = reduce_table,
     .across = reduce_table,
     .claims = reduce_claims},
    {.name = "allreduce",
     .words = "allreduce",
     .reduces = true,
     .up = reduce_table,
     .across = allreduce_table,
     .down = bcast_table,
     .claims = allreduce_claims},
    // An allreduce of nothing.
    {.name = "barrier",
     .words = "barrier",
     .has_data = false,
     .up = reduce_table,
     .across = barrier_table,
     .down = bcast_table,
     .claims = allreduce_claims,
     .idempotent = true},
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
