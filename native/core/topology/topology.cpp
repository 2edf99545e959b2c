// SPDX-License-Identifier: BSD-3-Clause
#include "topology/topology.hpp"

#include <algorithm>
#include <stdexcept>

#include "json/read.hpp"

namespace isochrone::core::topology {
namespace {

using Document = nlohmann::json;

plogp::Curve curve(const Document& links, const char* key) {
    plogp::Curve result;
    for (const Document& point : json::list(links.at(key), key)) {
        const auto size_bytes =
            json::integer(point.at(0), 0, json::largest_integer, std::string("a size of ") + key);
        if (!result.points.empty() && size_bytes <= result.points.back().first) {
            throw std::invalid_argument(std::string("the sizes of ") + key + " do not ascend");
        }
        result.points.emplace_back(size_bytes, json::quantity(point.at(1), key));
    }
    return result;
}

/// As in the schema. The time of a byte is to be finite.
constexpr double least_capacity_bytes_per_s = 1e-3;

plogp::Parameters parameters(const Document& links) {
    plogp::Parameters result;
    result.latency_s = json::quantity(links.at("latency_s"), "latency_s");
    result.send_overhead_s = curve(links, "send_overhead_s");
    result.receive_overhead_s = curve(links, "receive_overhead_s");
    result.gap_s = curve(links, "gap_s");
    const auto capacity = links.find("capacity_bytes_per_s");
    if (capacity != links.end() && !capacity->is_null()) {
        result.capacity_bytes_per_s = json::quantity(*capacity, "capacity_bytes_per_s");
        if (result.capacity_bytes_per_s < least_capacity_bytes_per_s)
            throw std::invalid_argument("capacity_bytes_per_s is too small");
    }
    return plogp::of_round_trip(result);
}

std::vector<std::vector<int>> groups(const Document& document, std::size_t places) {
    const auto last = static_cast<std::int64_t>(places) - 1;
    std::vector<std::vector<int>> result;
    for (const Document& group : json::list(document, "groups")) {
        auto& members = result.emplace_back();
        for (const Document& place : json::list(group, "a group")) {
            members.push_back(static_cast<int>(json::integer(place, 0, last, "a place of a group")));
        }
    }
    return result;
}

/// A level at which none of the surveyed pairs met has no parameters of its own (null). Other ranks may meet
/// there: they get those of the next level outside it that has some, else of the next inside.
void fill_gaps(std::vector<Level>& levels, const std::vector<bool>& measured) {
    const auto known = std::find(measured.begin(), measured.end(), true);
    if (known == measured.end()) return;
    const Level* last = &levels[static_cast<std::size_t>(known - measured.begin())];
    for (std::size_t l = 0; l < levels.size(); ++l) {
        if (measured[l]) {
            last = &levels[l];
        } else {
            levels[l].links = last->links;
        }
    }
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
            if (level.groups[g].empty())
                throw std::invalid_argument("level '" + level.name + "' has an empty group");
            for (const int place : level.groups[g]) {
                if (group_of[static_cast<std::size_t>(place)] != -1) {
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
            if (group < 0)
                throw std::invalid_argument("level '" + level.name + "' does not hold each place once");
        }
        outer = std::move(group_of);
    }
}

}  // namespace

std::string level_name(std::string name) {
    if (name.empty() || name.size() > 64 || !std::all_of(name.begin(), name.end(), is_part_of_name))
        throw std::invalid_argument("the name of a level is not of small letters, digits, - and _");
    return name;
}

Topology parse(std::string_view text) {
    std::string where;
    try {
        const Document document = Document::parse(text);
        if (document.at("isochrone") != "topology") throw std::invalid_argument("it is not a topology");
        if (document.at("schema_version") != 1)
            throw std::invalid_argument("it is of another schema version");
        Topology topology;
        topology.fingerprint = document.at("fingerprint").get<std::string>();
        for (const Document& place : json::list(document.at("places"), "places")) {
            where = "places[" + std::to_string(topology.places.size()) + "]: ";
            const Document& cpus = place.at("cpus");
            topology.places.push_back({place.at("host").get<std::string>(),
                                       cpus.is_null() ? "" : cpus.get<std::string>(),
                                       place.value("signature", "")});
        }
        where.clear();
        std::vector<bool> measured;
        for (const Document& level : json::list(document.at("levels"), "levels")) {
            where = "levels[" + std::to_string(topology.levels.size()) + "]: ";
            const Document& links = level.at("links");
            measured.push_back(!links.is_null());
            topology.levels.push_back({level_name(level.at("name").get<std::string>()),
                                       groups(level.at("groups"), topology.places.size()),
                                       links.is_null() ? plogp::Parameters{} : parameters(links)});
        }
        where.clear();
        fill_gaps(topology.levels, measured);
        check_levels(topology);
        return topology;
    } catch (const Document::exception& error) {
        throw std::invalid_argument(where + json::message(error));
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(where + error.what());
    }
}

}  // namespace isochrone::core::topology
