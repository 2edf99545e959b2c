// SPDX-License-Identifier: BSD-3-Clause
//
// What anybody may send to a fabric server, on fabrics with any tables: each line gets its one answer, and a
// malformed one an error. Input: 40 bytes of tables, then lines. Coverage-guided by `make fuzz`, seeded in
// fuzz_test.cpp.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/service.hpp"

namespace fabric = isochrone::core::fabric;

namespace {

constexpr int switches = 4;
constexpr int ports = 5;
constexpr int ends = 4;
constexpr int lids = switches + ends + 2;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "fabric_service: %s\n", what);
    std::abort();
}

/// A ring of switches with a host at each, and tables of whatever there is.
fabric::Service made(const std::uint8_t* tables) {
    fabric::Wiring wiring;
    wiring.switches = switches;
    wiring.ports = ports;
    wiring.lids = lids;
    wiring.peer.assign(switches * ports, fabric::none);
    wiring.peer_port.assign(switches * ports, 0);
    wiring.rate.assign(switches * ports, 100);
    const auto cable = [&](int at, int port, int to, int to_port) {
        wiring.peer[static_cast<std::size_t>(at * ports + port)] = to;
        wiring.peer_port[static_cast<std::size_t>(at * ports + port)] = static_cast<std::uint8_t>(to_port);
    };
    for (int at = 0; at < switches; ++at) {
        cable(at, 1, (at + 1) % switches, 2);
        cable((at + 1) % switches, 2, at, 1);
        cable(at, 3, switches + at, 1);
        wiring.above.push_back(at);
        wiring.above_port.push_back(3);
        wiring.above_rate.push_back(50);
    }
    wiring.out.assign(tables, tables + switches * lids);
    for (int vertex = 0; vertex < switches + ends; ++vertex) {
        wiring.lid.push_back(vertex == 2 ? 0 : vertex + 1);  // one has no LID
        wiring.lmc.push_back(vertex == 5 ? 1 : 0);
    }
    std::vector<std::uint64_t> guids;
    for (std::uint64_t vertex = 0; vertex < switches + ends; ++vertex) guids.push_back(0xa0 + vertex);
    return {
        fabric::Routes(wiring), guids, {{"a", 4}, {"b", 5}, {"c", 6}, {"d", 7}}, {{0xb0, 4}}, "version 1"};
}

bool begins(std::string_view line, std::string_view command) {
    return line.starts_with(command) && line.size() > command.size() && line[command.size()] == ' ';
}

/// Whether a line may have another answer than an error.
bool may_be_right(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    for (const std::string_view pair : {"query", "ports", "hops", "speed"}) {
        if (begins(line, pair)) return line.find(':') != std::string_view::npos;
    }
    return begins(line, "matrix") || line == "version" || line == "health";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t head = switches * lids;
    if (size < head) return 0;
    const auto service = made(data);
    const std::string_view lines(reinterpret_cast<const char*>(data) + head, size - head);
    const auto [text, used, count, errors] = service.answer(lines, "ok");
    require(used <= lines.size(), "more is answered than was asked");
    require(used == 0 || lines[used - 1] == '\n', "half a line is answered");
    std::string_view left = text;
    for (std::size_t begin = 0; begin < used;) {
        const auto end = lines.find('\n', begin);
        const auto line = lines.substr(begin, end - begin);
        begin = end + 1;
        const auto answer_end = left.find('\n');
        require(answer_end != std::string_view::npos, "a line has no answer");
        const auto answer = left.substr(0, answer_end);
        left.remove_prefix(answer_end + 1);
        require(answer.starts_with("error ") || may_be_right(line), "a malformed line has an answer");
        if (!answer.starts_with("matrix ")) continue;
        const auto bytes = std::strtoull(std::string(answer.substr(answer.rfind(' '))).c_str(), nullptr, 10);
        require(bytes <= left.size(), "a matrix is cut");
        left.remove_prefix(bytes);
    }
    require(errors <= count, "more errors than lines");
    require(left.empty(), "more answers than lines");
    return 0;
}
