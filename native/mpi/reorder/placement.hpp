// SPDX-License-Identifier: BSD-3-Clause
//
// Which rank of a program runs where, as a mapping says. See mapping.json in src/isochrone/files/schemas.
#pragma once

#include <string_view>
#include <vector>

#include "comm/place.hpp"

namespace isochrone::mpi::reorder {

struct Mapping {
    std::vector<int> at;  ///< [rank of the program], number of its place
    /// [rank of the program]; empty where only the form of the tree is known
    std::vector<comm::Place> places;
};

/// Reads the text of a mapping.json. Throws std::invalid_argument with one line that says what is wrong with
/// it.
[[nodiscard]] Mapping parse_mapping(std::string_view text);

/// [rank as launched], the rank that the program is to have there. Ranks are told by their hosts, within a
/// host by the CPUs that they are bound to, and else by their order: the n-th that was launched on a host is
/// at its n-th place. Without places, place n is rank n. Throws std::invalid_argument with one line if the
/// job is not the one that was mapped.
[[nodiscard]] std::vector<int> program_ranks(const Mapping& mapping,
                                             const std::vector<comm::Place>& launched);

}  // namespace isochrone::mpi::reorder
