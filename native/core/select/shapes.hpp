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

/// Nothing if the text is no shape, or has a digest: that is neither more nor less than another.
[[nodiscard]] std::optional<Shape> parse_shape(std::string_view text);

/// Where another shape lies, seen from one: on which side in each of its numbers, and how far in all.
struct Bearing {
    std::vector<signed char> sides;  ///< -1: the other's number is less, 0: equal, 1: more
    std::int64_t distance = 0;
};

/// Nothing if their levels differ.
[[nodiscard]] std::optional<Bearing> bearing(const Shape& from, const Shape& to);

/// Whether a shape lies between two others: each of its numbers lies between theirs.
[[nodiscard]] bool is_between(const std::vector<signed char>& one, const std::vector<signed char>& other);

}  // namespace isochrone::core::select
