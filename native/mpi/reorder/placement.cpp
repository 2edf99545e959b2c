// SPDX-License-Identifier: BSD-3-Clause
#include "reorder/placement.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>

#include "json/read.hpp"

namespace isochrone::mpi::reorder {
namespace {

namespace json = core::json;
using Document = nlohmann::json;

std::size_t index(int number) { return static_cast<std::size_t>(number); }

std::string text_of(const Document& value, const std::string& what) {
    if (!value.is_string()) throw std::invalid_argument(what + " is no text");
    return value.get<std::string>();
}

Mapping read(const Document& document) {
    if (!document.is_object() || document.value("isochrone", Document()) != "mapping")
        throw std::invalid_argument("it is not a mapping");
    if (document.at("schema_version") != 1)
        throw std::invalid_argument("it is of a version that this Isochrone does not know");
    Mapping mapping;
    for (const Document& place : json::list(document.at("at"), "at"))
        mapping.at.push_back(static_cast<int>(json::integer(place, 0, 1 << 30, "a number of a place")));
    std::vector<std::string> hosts;
    for (const Document& place : json::list(document.at("places"), "places")) {
        const Document& cpus = place.at("cpus");
        hosts.push_back(text_of(place.at("host"), "a host"));
        mapping.places.push_back({"", cpus.is_null() ? "" : text_of(cpus, "a list of CPUs"), ""});
    }
    hosts = comm::short_host_names(hosts);
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) mapping.places[rank].host = hosts[rank];
    if (mapping.at.empty() || (!hosts.empty() && hosts.size() != mapping.at.size()))
        throw std::invalid_argument("it has not a place for each rank");
    return mapping;
}

/// "8 ranks (4 on n0, 4 on n1)".
std::string in_words(std::size_t ranks, const std::map<std::string, std::vector<int>>& of_host) {
    constexpr std::size_t most = 4;
    std::string hosts;
    std::size_t count = 0;
    for (const auto& [host, members] : of_host) {
        if (++count > most) break;
        hosts += (count > 1 ? ", " : "") + std::to_string(members.size()) + " on " + host;
    }
    if (of_host.size() > most) hosts += " and more on " + std::to_string(of_host.size() - most) + " hosts";
    return std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks") +
           (hosts.empty() ? "" : " (" + hosts + ")");
}

std::map<std::string, std::vector<int>> by_host(const std::vector<comm::Place>& places) {
    std::map<std::string, std::vector<int>> result;
    for (std::size_t rank = 0; rank < places.size(); ++rank)
        result[places[rank].host].push_back(static_cast<int>(rank));
    return result;
}

bool have_equal_sizes(const std::map<std::string, std::vector<int>>& a,
                      const std::map<std::string, std::vector<int>>& b) {
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) {
               return x.first == y.first && x.second.size() == y.second.size();
           });
}

}  // namespace

Mapping parse_mapping(std::string_view text) {
    if (json::too_deep(text)) throw std::invalid_argument("it is nested too deeply");
    try {
        return read(Document::parse(text));
    } catch (const Document::exception& error) {
        throw std::invalid_argument(json::message(error));
    }
}

std::vector<int> program_ranks(const Mapping& mapping, const std::vector<comm::Place>& launched) {
    const auto wanted = by_host(mapping.places);
    const auto there = by_host(launched);
    if (mapping.at.size() != launched.size() ||
        (!mapping.places.empty() && !have_equal_sizes(wanted, there))) {
        throw std::invalid_argument("it is for " + in_words(mapping.at.size(), wanted) +
                                    ", and this job has " + in_words(launched.size(), there));
    }
    std::vector<int> result(launched.size(), -1);
    if (mapping.places.empty()) {
        for (std::size_t rank = 0; rank < result.size(); ++rank) {
            const std::size_t place = index(mapping.at[rank]);
            if (place >= result.size() || result[place] >= 0) {
                throw std::invalid_argument(
                    "it has no hosts, and leaves a place empty: ranks cannot be told from each other");
            }
            result[place] = static_cast<int>(rank);
        }
        return result;
    }
    for (const auto& [host, ranks] : wanted) {
        std::vector<int> in_order = ranks;
        std::stable_sort(in_order.begin(), in_order.end(),
                         [&](int a, int b) { return mapping.at[index(a)] < mapping.at[index(b)]; });
        const std::vector<int>& here = there.at(host);
        std::vector<int> left;
        for (const int rank : in_order) {
            const std::string& cpus = mapping.places[index(rank)].cpus;
            const auto same = std::find_if(here.begin(), here.end(), [&](int each) {
                return result[index(each)] < 0 && launched[index(each)].cpus == cpus;
            });
            if (cpus.empty() || same == here.end()) {
                left.push_back(rank);
            } else {
                result[index(*same)] = rank;
            }
        }
        auto next = left.begin();
        for (const int each : here) {
            if (result[index(each)] < 0) result[index(each)] = *next++;
        }
    }
    return result;
}

}  // namespace isochrone::mpi::reorder
