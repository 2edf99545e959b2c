// SPDX-License-Identifier: BSD-3-Clause
//
// What each collective's ranks have before, and must have after. Unit i of rank r's contribution is the atom
// (r, i).
#pragma once

#include <vector>

#include "collectives/collective.hpp"

namespace isochrone::core::collectives {

[[nodiscard]] std::vector<prove::Claim> bcast_contents(const Question& question);
[[nodiscard]] std::vector<prove::Claim> reduce_contents(const Question& question);
[[nodiscard]] std::vector<prove::Claim> allreduce_contents(const Question& question);
[[nodiscard]] std::vector<prove::Claim> gather_contents(const Question& question);
[[nodiscard]] std::vector<prove::Claim> scatter_contents(const Question& question);
[[nodiscard]] std::vector<prove::Claim> allgather_contents(const Question& question);
[[nodiscard]] std::vector<prove::Claim> alltoall_contents(const Question& question);
[[nodiscard]] std::vector<prove::Claim> reduce_scatter_contents(const Question& question);
[[nodiscard]] std::vector<prove::Claim> scan_contents(const Question& question);
[[nodiscard]] std::vector<prove::Claim> exscan_contents(const Question& question);

}  // namespace isochrone::core::collectives
