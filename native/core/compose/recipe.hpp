// SPDX-License-Identifier: BSD-3-Clause
//
// Recipes: which algorithms, at which levels, in segments of which size. Users, plans and tests write them as
// text:
//
//   recipe    = "native" | algorithm [ "@" bytes ] | order "(" algorithm ")" [ "@" bytes ]
//             | "hierarchical(" level "=" way { "," level "=" way } ")" [ "@" bytes ]
//   order     = "ordered" | "depth_first" | "breadth_first"
//   way       = algorithm [ "+" algorithm ]
//   algorithm = name [ "/" number ]
//
// LEVEL=WAY is what runs within each group of that level, among the leaders of its parts. UP+DOWN names two
// algorithms, where a collective goes to the leaders and back: one for each way.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace isochrone::core::compose {

/// An algorithm, by name.
struct Choice {
    std::string algorithm;
    int parameter = 0;  ///< 0: the algorithm's default

    friend bool operator==(const Choice&, const Choice&) = default;
};

/// What runs at one level; `level` is empty but in hierarchical recipes.
struct Part {
    std::string level;
    Choice choice;
    Choice down;  ///< without a name: as on the way up

    friend bool operator==(const Part&, const Part&) = default;
};

struct Recipe {
    enum class Kind : std::uint8_t {
        native,         ///< the library's own on the whole communicator
        flat,           ///< one algorithm among all ranks in rank order
        ordered,        ///< one algorithm among all ranks in the order of the tree, depth first from the root
        depth_first,    ///< one tree laid over the network (mapping.hpp), its longest paths first
        breadth_first,  ///< ... those nearest to the root first
        hierarchical,   ///< one algorithm a level
    };
    Kind kind = Kind::native;
    std::vector<Part> parts;         ///< outermost level first
    std::int64_t segment_bytes = 0;  ///< 0: each algorithm's own

    friend bool operator==(const Recipe&, const Recipe&) = default;
};

/// Whether a tree is laid over the network.
[[nodiscard]] constexpr bool is_mapped(Recipe::Kind kind) {
    return kind == Recipe::Kind::depth_first || kind == Recipe::Kind::breadth_first;
}

inline constexpr std::string_view native_name = "native";

/// Throws std::invalid_argument with one line that says what is wrong and where in the text.
[[nodiscard]] Recipe parse_recipe(std::string_view text);
[[nodiscard]] std::string to_text(const Recipe& recipe);

}  // namespace isochrone::core::compose
