// SPDX-License-Identifier: BSD-3-Clause
//
// What runs at the inner levels of recipes for any collective.
#pragma once

#include <string>

#include "collectives/collective.hpp"

namespace isochrone::tests {

/// A tree within each group, both ways; or, where there are none on the way up, only down.
inline std::string along(const std::string& tree, const core::collectives::Collective& collective) {
    const bool is_up = collective.up == nullptr || core::algorithms::find(collective.up(), tree) != nullptr;
    return (is_up ? "" : std::string(collective.up().front().name) + "+") + tree;
}

}  // namespace isochrone::tests
