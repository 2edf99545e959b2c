// SPDX-License-Identifier: BSD-3-Clause
//
// Shapes as numbers, so that it can be said of one that it lies between two others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace isochrone::core::select {

/// A shape's text, read: see place::shape.
struct Shape {
    std::string whole;                ///< the level that holds all ranks
    std::vector<std::string> levels;  ///< that divide them
    /// Ranks; then for each level its groups, and their least and largest size; then the sizes of the root's.
    std::vector<std::int64_t> numbers;
};

/// Nothing if the text is no shape.
[[nodiscard]] std::optional<Shape> parse_shape(std::string_view text);

/// How far two shapes are apart between which a third one lies: each of its numbers lies between theirs, and
/// the levels are the same. Nothing if it does not.
[[nodiscard]] std::optional<std::int64_t> width_around(const Shape& shape, const Shape& one,
                                                       const Shape& other);

}  // namespace isochrone::core::select
