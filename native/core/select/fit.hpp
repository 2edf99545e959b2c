// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "place/layout.hpp"
#include "select/plan.hpp"

namespace isochrone::core::select {

/// Why a plan has nothing to say about broadcasts to all ranks of a job, from any root, and what to do: in
/// words, one line. Empty if it has, and for a single rank. Rules for another order of its ranks say nothing.
/// `tried`: what is faster is tried there.
[[nodiscard]] std::string misfit(const Plan& plan, const place::Layout& job, bool tried = false);

}  // namespace isochrone::core::select
