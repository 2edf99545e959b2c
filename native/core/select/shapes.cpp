// SPDX-License-Identifier: BSD-3-Clause
#include "select/shapes.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace isochrone::core::select {
namespace {

constexpr std::int64_t most = std::int64_t{1} << 31;

/// Cuts off what comes before a separator, and that.
std::string_view cut(std::string_view& text, std::string_view separator) {
    const std::size_t end = text.find(separator);
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + separator.size());
    return part;
}

std::optional<std::int64_t> number(std::string_view text) {
    std::int64_t value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || rest != text.data() + text.size() || value < 1 || value > most) return {};
    return value;
}

/// "3x4+2x2": adds 5 groups, of 2 at least and 4 at most.
bool add_level(std::string_view sizes, std::vector<std::int64_t>& numbers) {
    std::int64_t groups = 0;
    std::int64_t least = most;
    std::int64_t largest = 0;
    while (!sizes.empty()) {
        std::string_view part = cut(sizes, "+");
        const auto count = number(cut(part, "x"));
        const auto size = number(part);
        if (!count || !size) return false;
        groups += *count;
        least = std::min(least, *size);
        largest = std::max(largest, *size);
    }
    numbers.insert(numbers.end(), {groups, least, largest});
    return groups > 0;
}

bool add_root(std::string_view sizes, std::vector<std::int64_t>& numbers) {
    while (!sizes.empty()) {
        const auto size = number(cut(sizes, "/"));
        if (!size) return false;
        numbers.push_back(*size);
    }
    return true;
}

}  // namespace

std::optional<Shape> parse_shape(std::string_view text) {
    constexpr std::string_view nested = "nested ";
    constexpr std::string_view root = "root in ";
    Shape shape;
    std::string_view first = cut(text, "; ");
    const auto ranks = number(cut(first, " ranks in one "));
    if (!ranks || first.empty()) return {};
    shape.whole = first;
    shape.numbers.push_back(*ranks);
    while (!text.empty()) {
        std::string_view part = cut(text, "; ");
        if (part.starts_with(nested)) return {};
        if (part.starts_with(root)) {
            if (!add_root(part.substr(root.size()), shape.numbers)) return {};
        } else {
            shape.levels.emplace_back(cut(part, " "));
            if (!add_level(part, shape.numbers)) return {};
        }
    }
    return shape;
}

std::optional<Bearing> bearing(const Shape& from, const Shape& to) {
    if (to.whole != from.whole || to.levels != from.levels || to.numbers.size() != from.numbers.size())
        return {};
    Bearing result;
    for (std::size_t i = 0; i < from.numbers.size(); ++i) {
        const std::int64_t difference = to.numbers[i] - from.numbers[i];
        result.sides.push_back(static_cast<signed char>((difference > 0) - (difference < 0)));
        result.distance += std::abs(difference);
    }
    return result;
}

bool is_between(const std::vector<signed char>& one, const std::vector<signed char>& other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [](signed char a, signed char b) { return a * b <= 0; });
}

}  // namespace isochrone::core::select
