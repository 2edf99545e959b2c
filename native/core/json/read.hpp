// SPDX-License-Identifier: BSD-3-Clause
//
// Reading values from JSON that may hold anything: what does not fit is refused, never converted.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace isochrone::core::json {

/// The largest whole number that every JSON reader keeps exact.
inline constexpr std::int64_t largest_integer = std::int64_t{1} << 53;

/// A whole number in [least, most]; `what` names it in the error. Throws std::invalid_argument.
[[nodiscard]] std::int64_t integer(const nlohmann::json& value, std::int64_t least, std::int64_t most,
                                   const std::string& what);

/// A finite number of at least 0. Throws std::invalid_argument.
[[nodiscard]] double quantity(const nlohmann::json& value, const std::string& what);

/// The value itself, which must be a list: the library would go through anything else as if it were one.
[[nodiscard]] const nlohmann::json& list(const nlohmann::json& value, const std::string& what);

/// Whether lists and objects are within each other more than 64 times in a text, which no file of Isochrone's
/// needs: the library copies, compares and writes such values by as many calls within each other.
[[nodiscard]] bool too_deep(std::string_view text);

/// What the library says of a text that is not JSON, or not of the expected form, without its own error
/// numbers and names.
[[nodiscard]] std::string message(const nlohmann::json::exception& error);

}  // namespace isochrone::core::json
