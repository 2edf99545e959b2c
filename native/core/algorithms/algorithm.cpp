// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/algorithm.hpp"

#include <algorithm>

namespace isochrone::core::algorithms {

const Algorithm* find(std::span<const Algorithm> rows, std::string_view name) {
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const Algorithm& a) { return a.name == name; });
    return row == rows.end() ? nullptr : &*row;
}

}  // namespace isochrone::core::algorithms
