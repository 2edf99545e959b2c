// SPDX-License-Identifier: BSD-3-Clause
//
// What each collective promises. Unit i of rank r's contribution is the atom (r, i).
#pragma once

#include <vector>

#include "collectives/collective.hpp"

namespace isochrone::core::collectives {

[[nodiscard]] std::vector<prove::Claim> bcast_claims(const Question& question);
[[nodiscard]] std::vector<prove::Claim> reduce_claims(const Question& question);
[[nodiscard]] std::vector<prove::Claim> allreduce_claims(const Question& question);

}  // namespace isochrone::core::collectives
