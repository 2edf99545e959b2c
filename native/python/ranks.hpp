// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>

#include "place/layout.hpp"

/// Throws std::invalid_argument, in one line, if there is no such rank.
inline void check_rank(const isochrone::core::place::Layout& layout, int rank) {
    if (rank < 0 || rank >= layout.size) {
        throw std::invalid_argument("rank " + std::to_string(rank) + " is not one of " +
                                    std::to_string(layout.size) + " ranks");
    }
}
