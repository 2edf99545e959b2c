// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/service.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <stdexcept>

namespace isochrone::core::fabric {
namespace {

constexpr std::size_t most_quoted = 64;
constexpr std::size_t long_answer = 1 << 20;
constexpr std::string_view speeds_unknown =
    "the speeds of some cables between these hosts are not known; add what iblinkinfo prints to the dumps";
constexpr std::array endings{"arrives", "has no cable or no LID", "ends at a switch without an entry for it",
                             "goes in a circle", "ends elsewhere"};

/// What somebody sent, for an error line: short, and without what a terminal would obey.
std::string quoted(std::string_view text) {
    std::string result(text.substr(0, most_quoted));
    for (char& letter : result) {
        if (letter < ' ' || letter > '~') letter = '?';
    }
    return "'" + result + "'";
}

void add_error(std::string& text, std::string_view what) { text.append("error ").append(what).append("\n"); }

void add_guid(std::string& text, std::uint64_t guid) {
    std::array<char, 18> digits{'0', 'x'};
    for (std::size_t place = digits.size(); place-- > 2; guid >>= 4)
        digits[place] = "0123456789abcdef"[guid & 15];
    text.append(digits.data(), digits.size());
}

template <typename Number>
void add_number(std::string& text, Number number) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    text.append(digits.data(), end);
}

std::optional<std::uint64_t> guid_of(std::string_view text) {
    if (!text.starts_with("0x") && !text.starts_with("0X")) return std::nullopt;
    std::uint64_t guid = 0;
    const auto* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data() + 2, last, guid, 16);
    if (error != std::errc{} || end != last) return std::nullopt;
    return guid;
}

template <typename Value>
void add_matrix(std::string& text, std::string_view what, std::string_view type, std::size_t hosts,
                const std::vector<Value>& values) {
    static_assert(std::endian::native == std::endian::little);
    text.append("matrix ").append(what).append(" ");
    add_number(text, hosts);
    text.append(" ").append(type).append(" ");
    add_number(text, values.size() * sizeof(Value));
    text.append("\n");
    const auto begin = text.size();
    text.resize(begin + values.size() * sizeof(Value));
    if (!values.empty()) std::memcpy(text.data() + begin, values.data(), values.size() * sizeof(Value));
}

}  // namespace

Service::Service(Routes routes, std::vector<std::uint64_t> guids,
                 const std::vector<std::pair<std::string, int>>& names,
                 const std::vector<std::pair<std::uint64_t, int>>& more_guids, std::string version)
    : routes_(std::move(routes)), guids_(std::move(guids)), version_(std::move(version)) {
    const int vertices = routes_.wiring().switches + routes_.wiring().ends();
    const auto check = [&](int vertex) {
        if (vertex < 0 || vertex >= vertices) throw std::invalid_argument("a name is of no vertex");
    };
    if (guids_.size() != static_cast<std::size_t>(vertices))
        throw std::invalid_argument("each vertex has one GUID");
    for (int vertex = 0; vertex < vertices; ++vertex)
        by_guid_.emplace(guids_[static_cast<std::size_t>(vertex)], vertex);
    for (const auto& [guid, vertex] : more_guids) {
        check(vertex);
        by_guid_.emplace(guid, vertex);
    }
    for (const auto& [name, vertex] : names) {
        check(vertex);
        if (!by_name_.emplace(name, vertex).second) continue;
        const auto dot = name.find('.');
        if (dot == std::string::npos) continue;
        const auto [known, is_new] = by_short_name_.emplace(name.substr(0, dot), vertex);
        if (!is_new) known->second = none;
    }
}

int Service::find(std::string_view name) const {
    if (const auto found = by_name_.find(name); found != by_name_.end()) return found->second;
    if (const auto guid = guid_of(name)) {
        const auto found = by_guid_.find(*guid);
        return found == by_guid_.end() ? none : found->second;
    }
    const auto dot = name.find('.');
    const auto& others = dot == std::string_view::npos ? by_short_name_ : by_name_;
    const auto found = others.find(name.substr(0, dot));
    return found == others.end() ? none : found->second;
}

Service::Answers Service::answer(std::string_view lines, std::string_view health) const {
    Answers answers;
    while (answers.text.size() < long_answer) {
        const auto end = lines.find('\n', answers.used);
        if (end == std::string_view::npos) break;
        auto line = lines.substr(answers.used, end - answers.used);
        if (line.ends_with('\r')) line.remove_suffix(1);
        const auto begin = answers.text.size();
        answer_line(line, health, answers.text);
        answers.used = end + 1;
        ++answers.lines;
        if (std::string_view(answers.text).substr(begin).starts_with("error ")) ++answers.errors;
    }
    return answers;
}

void Service::answer_line(std::string_view line, std::string_view health, std::string& text) const {
    if (line.size() > longest_line) return add_error(text, "the line is too long");
    const auto space = line.find(' ');
    const auto command = line.substr(0, space);
    const auto rest = space == std::string_view::npos ? std::string_view{} : line.substr(space + 1);
    if (command == "query" || command == "ports" || command == "hops" || command == "speed")
        return answer_pair(command, rest, text);
    if (command == "matrix") return answer_matrix(rest, text);
    if (line == "version") {
        text.append(version_).append("\n");
    } else if (line == "health") {
        text.append(health).append("\n");
    } else {
        add_error(text, quoted(line) +
                            " is no question; ask query, ports, hops or speed A:B, matrix A,B,..., "
                            "version or health");
    }
}

void Service::answer_pair(std::string_view command, std::string_view pair, std::string& text) const {
    const auto colon = pair.find(':');
    if (colon == std::string_view::npos || pair.find(':', colon + 1) != std::string_view::npos)
        return add_error(text, quoted(pair) + " is not two hosts; write hosta:hostb");
    const auto from_name = pair.substr(0, colon);
    const auto to_name = pair.substr(colon + 1);
    const int from = find(from_name);
    const int to = find(to_name);
    if (from == none || to == none)
        return add_error(text, quoted(from == none ? from_name : to_name) + " is not on this fabric");
    const auto route = routes_.route(from, to);
    if (route.ending != Ending::arrived) {
        return add_error(text, "the route from " + quoted(from_name) + " to " + quoted(to_name) + " " +
                                   endings[static_cast<std::size_t>(route.ending)]);
    }
    if (command == "hops") {
        add_number(text, route.hops.size());
    } else if (command == "speed") {
        add_number(text, route.rate);
    } else {
        text.append(from_name);
        for (const auto& hop : route.hops) {
            text.append(" ");
            add_guid(text, guids_[static_cast<std::size_t>(hop.at)]);
            if (command != "ports") continue;
            text.append(":");
            add_number(text, hop.in);
            text.append(":");
            add_number(text, hop.out);
        }
        text.append(" ").append(to_name);
    }
    text.append("\n");
}

void Service::answer_matrix(std::string_view hosts, std::string& text) const {
    const auto space = hosts.find(' ');
    const auto what = space == std::string_view::npos ? "hops" : hosts.substr(0, space);
    if (space != std::string_view::npos) hosts.remove_prefix(space + 1);
    if (what != "hops" && what != "speed")
        return add_error(text, quoted(what) + " is no matrix; ask for hops or speed");
    std::vector<int> vertices;
    for (std::size_t begin = 0; begin <= hosts.size();) {
        const auto comma = std::min(hosts.find(',', begin), hosts.size());
        const auto name = hosts.substr(begin, comma - begin);
        vertices.push_back(find(name));
        if (vertices.back() == none) return add_error(text, quoted(name) + " is not on this fabric");
        if (vertices.size() > most_hosts)
            return add_error(text, "more than " + std::to_string(most_hosts) + " hosts in one matrix");
        begin = comma + 1;
    }
    if (what == "hops") return add_matrix(text, what, "uint16", vertices.size(), routes_.hops(vertices));
    const auto rates = routes_.rates(vertices);
    if (std::ranges::any_of(rates, [](float rate) { return std::isnan(rate); }))
        return add_error(text, speeds_unknown);
    add_matrix(text, what, "float32", vertices.size(), rates);
}

}  // namespace isochrone::core::fabric
