// SPDX-License-Identifier: BSD-3-Clause
//
// Recipes: which algorithms, at which levels, in segments of which size. Users, plans and tests write them as
// text:
//
//   recipe    = "native" | among [ "@" bytes ]
//             | "hierarchical(" level "=" among { "," level "=" way } ")" [ "@" bytes ]
//   among     = algorithm | order "(" algorithm ")"
//   order     = "ordered" | "depth_first" | "breadth_first" | "longest_first"
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

/// In which order the members of a group take part, the root first.
enum class Order : std::uint8_t {
    ranks,          ///< that of ranks
    tree,           ///< that of the tree, depth first from the root
    depth_first,    ///< a tree laid over the network (mapping.hpp), its longest paths first
    breadth_first,  ///< ... those nearest to the root first
    longest_first,  ///< ... those with the longest paths below them first
};

/// What runs at one level; `level` is empty but in hierarchical recipes.
struct Part {
    std::string level;
    Order order = Order::ranks;  ///< another one only at the outermost level
    Choice choice;
    Choice down;  ///< without a name: as on the way up

    friend bool operator==(const Part&, const Part&) = default;
};

struct Recipe {
    enum class Kind : std::uint8_t {
        native,        ///< the library's own on the whole communicator
        flat,          ///< one algorithm among all ranks
        hierarchical,  ///< one algorithm a level
    };
    Kind kind = Kind::native;
    std::vector<Part> parts;         ///< outermost level first
    std::int64_t segment_bytes = 0;  ///< 0: each algorithm's own

    /// Of all ranks in a flat recipe, of the leaders at the outermost level in others.
    [[nodiscard]] Order order() const { return parts.empty() ? Order::ranks : parts.front().order; }
    /// Whether a tree is laid over the network.
    [[nodiscard]] bool is_mapped() const { return order() != Order::ranks && order() != Order::tree; }

    friend bool operator==(const Recipe&, const Recipe&) = default;
};

inline constexpr std::string_view native_name = "native";

/// Throws std::invalid_argument with one line that says what is wrong and where in the text.
[[nodiscard]] Recipe parse_recipe(std::string_view text);
[[nodiscard]] std::string to_text(const Recipe& recipe);
[[nodiscard]] std::string to_text(const Choice& choice);
/// Its word in recipes; empty for that of ranks.
[[nodiscard]] std::string_view name_of(Order order);

}  // namespace isochrone::core::compose
