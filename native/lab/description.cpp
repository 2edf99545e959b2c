// SPDX-License-Identifier: BSD-3-Clause
#include "description.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <stdexcept>

#include "json/read.hpp"

namespace isochrone::lab {

namespace {

using Json = nlohmann::json;
constexpr std::size_t most_nodes = 4096;
constexpr double longest_delay_s = 100;
constexpr std::int64_t longest_queue_bytes = std::int64_t{1} << 40;

std::string name_of(const Json& json) {
    const auto name = json.at("name").get<std::string>();
    const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
    });
    if (name.empty() || name.size() > 63 || !plain)
        throw std::invalid_argument("a name that no host can have");
    return name;
}

Node node_of(const Json& json, std::size_t number) {
    Node node{.name = name_of(json)};
    if (number == 0) return node;
    node.parent = static_cast<int>(
        core::json::integer(json.at("parent"), 0, static_cast<std::int64_t>(number) - 1, "parent"));
    const double rate = core::json::quantity(json.at("bytes_per_s"), "bytes_per_s");
    const double delay = core::json::quantity(json.at("delay_s"), "delay_s");
    if (delay > longest_delay_s) throw std::invalid_argument("delay_s: is longer than 100 s");
    node.nanoseconds_per_byte = rate > 0 ? 1e9 / rate : 0;
    node.delay = std::llround(delay * 1e9);
    node.queue_bytes = core::json::integer(json.at("queue_bytes"), 0, longest_queue_bytes, "queue_bytes");
    return node;
}

HostName host_of(const Json& json) {
    HostName host{name_of(json), json.at("address").get<std::string>()};
    in_addr address{};
    const bool valid = inet_pton(AF_INET, host.address.c_str(), &address) == 1;
    if (!valid || (ntohl(address.s_addr) >> 16) != ((10U << 8) | 77U)) {
        throw std::invalid_argument("address: is not in 10.77.0.0/16");
    }
    return host;
}

}  // namespace

Description parse_description(const std::string& text) {
    try {
        const Json json = Json::parse(text);
        Description description;
        const Json& nodes = core::json::list(json.at("nodes"), "nodes");
        if (nodes.empty() || nodes.size() > most_nodes)
            throw std::invalid_argument("nodes: 1 to 4096 of them");
        for (const Json& node : nodes) {
            description.nodes.push_back(node_of(node, description.nodes.size()));
            if (node.contains("address")) description.hosts.push_back(host_of(node));
        }
        if (Network(description.nodes).hosts().size() != description.hosts.size()) {
            throw std::invalid_argument("nodes: those without children have addresses, and no others");
        }
        return description;
    } catch (const Json::exception& error) {
        throw std::invalid_argument(core::json::message(error));
    }
}

}  // namespace isochrone::lab
