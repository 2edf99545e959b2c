// SPDX-License-Identifier: BSD-3-Clause
//
// The tree of places that a survey found, with the link parameters of each level. See topology.json in
// DESIGN.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plogp/parameters.hpp"

namespace isochrone::core::topology {

/// Where a rank runs.
struct Place {
    std::string host;
    std::string cpus;  ///< that it is bound to, such as "0-3,8"; empty: not to fewer than all of the host's
    std::string signature;  ///< names the host's hardware

    bool operator==(const Place&) const = default;
};

/// A partition of the places. Places of one group that are in different groups of the next level meet at this
/// level.
struct Level {
    std::string name;
    std::vector<std::vector<int>> groups;  ///< numbers of places
    plogp::Parameters links;               ///< of pairs that meet here
};

struct Topology {
    std::string fingerprint;
    std::vector<Place> places;
    std::vector<Level> levels;  ///< outermost first; the first has one group; each refines the one before
};

/// Whether the name of a level may have it.
[[nodiscard]] constexpr bool is_part_of_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/// The name, if recipes can have it for a level; else throws std::invalid_argument.
[[nodiscard]] std::string level_name(std::string name);

/// Reads the text of a topology.json. Throws std::invalid_argument with one line that says what is wrong with
/// it.
[[nodiscard]] Topology parse(std::string_view text);

}  // namespace isochrone::core::topology
