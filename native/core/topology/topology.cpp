// SPDX-License-Identifier: BSD-3-Clause
#include "topology/topology.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace isochrone::core::topology {
namespace {

using nlohmann::json;

double number(const json& value, const char* what) {
    const double result = value.get<double>();
    if (!std::isfinite(result) || result < 0) throw std::invalid_argument(std::string(what) + " is not a time");
    return result;
}

plogp::Curve curve(const json& links, const char* key) {
    plogp::Curve result;
    for (const json& point : links.at(key)) {
        const auto size = point.at(0).get<std::int64_t>();
        if (size < 0 || (!result.points.empty() && size <= result.points.back().first)) {
            throw std::invalid_argument(std::string("the sizes of ") + key + " do not ascend");
        }
        result.points.emplace_back(size, number(point.at(1), key));
    }
    return result;
}

plogp::Parameters parameters(const json& links) {
    plogp::Parameters result;
    result.latency_s = number(links.at("latency_s"), "latency_s");
    result.send_overhead_s = curve(links, "send_overhead_s");
    result.receive_overhead_s = curve(links, "receive_overhead_s");
    result.gap_s = curve(links, "gap_s");
    const auto capacity = links.find("capacity_bytes_per_s");
    if (capacity != links.end() && !capacity->is_null()) {
        result.capacity_bytes_per_s = number(*capacity, "capacity_bytes_per_s");
    }
    return result;
}

/// Checks that the groups of each level hold every place once and lie within the groups of the level before.
void check_levels(const Topology& topology) {
    if (topology.levels.empty() || topology.levels.front().groups.size() != 1) {
        throw std::invalid_argument("the first level is not one group of all places");
    }
    std::vector<int> outer(topology.places.size(), 0);
    for (const Level& level : topology.levels) {
        std::vector<int> group_of(topology.places.size(), -1);
        for (std::size_t g = 0; g < level.groups.size(); ++g) {
            if (level.groups[g].empty()) throw std::invalid_argument("level '" + level.name + "' has an empty group");
            for (const int place : level.groups[g]) {
                if (place < 0 || place >= static_cast<int>(topology.places.size()) ||
                    group_of[static_cast<std::size_t>(place)] != -1) {
                    throw std::invalid_argument("level '" + level.name + "' does not hold each place once");
                }
                group_of[static_cast<std::size_t>(place)] = static_cast<int>(g);
                const auto first = static_cast<std::size_t>(level.groups[g].front());
                if (outer[static_cast<std::size_t>(place)] != outer[first]) {
                    throw std::invalid_argument("level '" + level.name + "' does not refine the one before");
                }
            }
        }
        for (const int group : group_of) {
            if (group < 0) throw std::invalid_argument("level '" + level.name + "' does not hold each place once");
        }
        outer = std::move(group_of);
    }
}

}  // namespace

Topology parse(std::string_view text) {
    try {
        const json document = json::parse(text);
        if (document.at("isochrone") != "topology") throw std::invalid_argument("it is not a topology");
        if (document.at("schema_version") != 1) throw std::invalid_argument("it is of another schema version");
        Topology topology;
        topology.fingerprint = document.at("fingerprint").get<std::string>();
        for (const json& place : document.at("places")) {
            const json& cpus = place.at("cpus");
            topology.places.push_back({place.at("host").get<std::string>(),
                                       cpus.is_null() ? "" : cpus.get<std::string>(),
                                       place.value("signature", "")});
        }
        for (const json& level : document.at("levels")) {
            topology.levels.push_back({level.at("name").get<std::string>(),
                                       level.at("groups").get<std::vector<std::vector<int>>>(),
                                       parameters(level.at("links"))});
        }
        check_levels(topology);
        return topology;
    } catch (const json::exception& error) {
        throw std::invalid_argument(error.what());
    }
}

}  // namespace isochrone::core::topology
