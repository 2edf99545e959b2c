// SPDX-License-Identifier: BSD-3-Clause
#include "comm/json.hpp"

#include <array>
#include <ctime>

#include "comm/version.hpp"

namespace isochrone::mpi::comm {

using nlohmann::ordered_json;

ordered_json places_json(const std::vector<Place>& places) {
    ordered_json list = ordered_json::array();
    for (const Place& place : places) {
        ordered_json item = {{"host", place.host}, {"cpus", nullptr}, {"signature", place.signature}};
        if (!place.cpus.empty()) item["cpus"] = place.cpus;
        list.push_back(std::move(item));
    }
    return list;
}

ordered_json library_json(const Library& library) {
    return {{"library", library.name}, {"version", library.version}, {"abi", library.abi}};
}

ordered_json provenance_json(int argc, const char* const* argv) {
    const std::time_t seconds = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
    return {{"command", std::vector<std::string>(argv, argv + argc)},
            {"time", text.data()},
            {"version", isochrone_version}};
}

std::string json_line(const ordered_json& value) {
    return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace isochrone::mpi::comm
