// SPDX-License-Identifier: BSD-3-Clause
#include "json/read.hpp"

#include <cmath>
#include <cstddef>
#include <stdexcept>

namespace isochrone::core::json {

std::int64_t integer(const nlohmann::json& value, std::int64_t least, std::int64_t most,
                     const std::string& what) {
    const auto refuse = [&] {
        return std::invalid_argument(what + " is not a whole number from " + std::to_string(least) + " to " +
                                     std::to_string(most));
    };
    if (!value.is_number()) throw refuse();
    // Compared before it is converted: beyond the range of the type a conversion has no defined result.
    const auto as_double = value.get<double>();
    if (!(as_double >= static_cast<double>(least) && as_double <= static_cast<double>(most)) ||
        std::trunc(as_double) != as_double) {
        throw refuse();
    }
    return value.get<std::int64_t>();
}

double quantity(const nlohmann::json& value, const std::string& what) {
    if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() < 0) {
        throw std::invalid_argument(what + " is not a number of at least 0");
    }
    return value.get<double>();
}

const nlohmann::json& list(const nlohmann::json& value, const std::string& what) {
    if (!value.is_array()) throw std::invalid_argument(what + " is not a list");
    return value;
}

bool too_deep(std::string_view text) {
    constexpr int most = 64;
    int depth = 0;
    bool in_string = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (in_string && c == '\\') {
            ++at;
        } else if (c == '"') {
            in_string = !in_string;
        } else if (!in_string && (c == '[' || c == '{')) {
            if (++depth > most) return true;
        } else if (!in_string && (c == ']' || c == '}')) {
            --depth;
        }
    }
    return false;
}

std::string message(const nlohmann::json::exception& error) {
    // What it says of a value of another type is about its own functions.
    if (dynamic_cast<const nlohmann::json::type_error*>(&error) != nullptr)
        return "a value is of another type than it must be";
    const std::string text = error.what();
    const std::size_t end = text.find("] ");
    return end == std::string::npos ? text : text.substr(end + 2);
}

}  // namespace isochrone::core::json
