// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/collective.hpp"
#include "compose/recipe.hpp"

namespace isochrone::core::simulate {

/// Messages of one rank to another.
struct Flow {
    std::int64_t source = 0;
    std::int64_t target = 0;
    std::int64_t messages = 0;
    std::int64_t bytes = 0;
};

/// What ranks 0 .. `ranks` - 1 send one another in a collective of `size_bytes`, of the message or of each
/// block, by a flat recipe; `root` is 0 where it has none. Every message has its size, whatever the operands
/// are made of. In the order of sources; messages of one pair that follow one another and have one size are
/// one flow. Throws std::invalid_argument, in one line, for what cannot be, and for more than `most` flows.
[[nodiscard]] std::vector<Flow> traffic(const collectives::Collective& collective,
                                        const compose::Recipe& recipe, int ranks, int root,
                                        std::int64_t size_bytes, std::int64_t most);

}  // namespace isochrone::core::simulate
