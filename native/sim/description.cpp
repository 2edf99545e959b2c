// SPDX-License-Identifier: BSD-3-Clause
#include "description.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace isochrone::sim {

namespace {

using Json = nlohmann::json;

Pair pair_of(const Json& json) {
    return {json.at("latency_s").get<double>(), json.at("bandwidth_bytes_per_s").get<double>()};
}

std::vector<CoreGroups> core_groups_of(const Json& json) {
    std::vector<CoreGroups> result;
    for (const Json& level : json) {
        CoreGroups groups{level.at("cores").get<std::size_t>(), pair_of(level), std::nullopt};
        const Json& capacity = level.at("capacity_bytes_per_s");
        if (!capacity.is_null()) groups.capacity_bytes_per_s = capacity.get<double>();
        result.push_back(groups);
    }
    return result;
}

/// Routes are the bulk of the file, so each is a bare list: from, to, pair, shared links.
Route route_of(const Json& json) {
    return {json.at(0).get<std::size_t>(), json.at(1).get<std::size_t>(), json.at(2).get<std::size_t>(),
            json.at(3).get<std::vector<std::size_t>>()};
}

Description description_of(const Json& json) {
    Description description;
    description.nodes = json.at("nodes").get<std::vector<std::string>>();
    description.core_capacity_bytes_per_s = json.at("core_capacity_bytes_per_s").get<double>();
    description.nic_capacity_bytes_per_s = json.at("nic_capacity_bytes_per_s").get<double>();
    description.core_groups = core_groups_of(json.at("core_groups"));
    for (const Json& slow : json.at("slow_nodes"))
        description.slow_nodes[slow.at(0).get<std::size_t>()] = core_groups_of(slow.at(1));
    for (const Json& pair : json.at("pairs")) description.pairs.push_back(pair_of(pair));
    description.shared_link_capacity_bytes_per_s =
        json.at("shared_link_capacity_bytes_per_s").get<std::vector<double>>();
    for (const Json& route : json.at("routes")) description.routes.push_back(route_of(route));
    const Json& noise = json.at("noise");
    description.noise = {noise.at("sigma").get<double>(), noise.at("seed").get<std::uint64_t>(),
                         noise.at("overhead_s").get<double>()};
    return description;
}

void check(const Description& description) {
    const auto require = [](bool holds, const char* what) {
        if (!holds) throw std::runtime_error(what);
    };
    require(!description.nodes.empty(), "no nodes");
    require(!description.core_groups.empty(), "no groups of cores");
    std::size_t cores = 1;
    for (const CoreGroups& groups : description.core_groups) {
        require(groups.cores > 0 && groups.cores % cores == 0, "groups of cores that do not nest");
        cores = groups.cores;
    }
    for (const auto& [node, slow] : description.slow_nodes) {
        require(node < description.nodes.size(), "an unknown slow node");
        require(slow.size() == description.core_groups.size(), "a slow node of another form");
        for (std::size_t level = 0; level < slow.size(); ++level)
            require(slow[level].cores == description.core_groups[level].cores, "a slow node of another form");
    }
    for (const Route& route : description.routes) {
        const bool known = route.from < description.nodes.size() && route.to < description.nodes.size() &&
                           route.pair < description.pairs.size();
        require(known, "a route of an unknown node or pair");
        for (const std::size_t link : route.shared_links) {
            require(link < description.shared_link_capacity_bytes_per_s.size(),
                    "a route over an unknown link");
        }
    }
}

}  // namespace

Description read_description(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error(path + ": cannot be read");
    try {
        Description description = description_of(Json::parse(file));
        check(description);
        return description;
    } catch (const std::exception& error) {
        throw std::runtime_error(path + ": " + error.what());
    }
}

}  // namespace isochrone::sim
