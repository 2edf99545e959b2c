// SPDX-License-Identifier: BSD-3-Clause
//
// A plan of which only some recipes run, so that a user finds by halving which of them changed a result.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "select/plan.hpp"

namespace isochrone::core::select {

/// Messages of one collective.
struct Kept {
    std::string collective;  ///< empty: any
    std::int64_t min_bytes = 0;
    std::int64_t max_bytes = 0;  ///< inclusive
};

/// Reads what is to be kept:
///
///   kept  = one { ( "," | blank ) one }
///   one   = ( collective | "all" ) [ ":" ( size | [ size ] "-" [ size ] ) ]
///   size  = number [ "K" | "KiB" | "M" | "MiB" | "G" | "GiB" ]     bytes
///
/// Throws std::invalid_argument, in one line, for anything else, or if it names nothing.
[[nodiscard]] std::vector<Kept> parse_kept(std::string_view text);

/// Makes all messages of a plan native that are not among those to keep. Rules are cut where a size in them
/// is.
void keep_only(Plan& plan, const std::vector<Kept>& kept);

}  // namespace isochrone::core::select
