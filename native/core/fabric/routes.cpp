// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/routes.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace isochrone::core::fabric {
namespace {

constexpr float endless = std::numeric_limits<float>::infinity();
constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

std::size_t at(int index) { return static_cast<std::size_t>(index); }

void expect_size(std::size_t have, std::size_t want, const char* what) {
    if (have != want) {
        throw std::invalid_argument(std::string(what) + " has " + std::to_string(have) + " values, not " +
                                    std::to_string(want));
    }
}

}  // namespace

Routes::Routes(Wiring wiring) : wiring_(std::move(wiring)) {
    const auto& w = wiring_;
    if (w.switches < 0 || w.ports < 0 || w.lids < 0) throw std::invalid_argument("a size is negative");
    const auto ends = w.above.size();
    const auto cells = at(w.switches) * at(w.ports);
    expect_size(w.peer.size(), cells, "peer");
    expect_size(w.peer_port.size(), cells, "peer_port");
    expect_size(w.rate.size(), cells, "rate");
    expect_size(w.out.size(), at(w.switches) * at(w.lids), "out");
    expect_size(w.lid.size(), at(w.switches) + ends, "lid");
    expect_size(w.lmc.size(), at(w.switches) + ends, "lmc");
    expect_size(w.above_port.size(), ends, "above_port");
    expect_size(w.above_rate.size(), ends, "above_rate");
    const auto vertices = w.switches + static_cast<int>(ends);
    const auto names_one = [&](int vertex) { return vertex >= none && vertex < vertices; };
    if (!std::ranges::all_of(w.peer, names_one) || !std::ranges::all_of(w.above, names_one))
        throw std::invalid_argument("a cable goes to a vertex that is none");
    for (std::size_t vertex = 0; vertex < w.lid.size(); ++vertex) {
        if (w.lid[vertex] < 0 || w.lmc[vertex] > 7) throw std::invalid_argument("a LID or LMC cannot be");
    }
}

std::size_t Routes::cell(int at_switch, int port) const {
    return at(at_switch) * at(wiring_.ports) + at(port);
}

int Routes::lid_of(int vertex, int path) const {
    const int lid = wiring_.lid[at(vertex)];
    const int paths = 1 << wiring_.lmc[at(vertex)];
    return lid == 0 ? 0 : lid + (path % paths + paths) % paths;
}

/// The port that a switch's table has for a LID; none for one beyond all tables.
int Routes::port_out(int at_switch, int lid) const {
    return lid < wiring_.lids ? wiring_.out[at(at_switch) * at(wiring_.lids) + at(lid)] : no_port;
}

/// The switch that a packet of a vertex comes to first, or none.
int Routes::entry_of(int from) const {
    if (is_switch(from)) return from;
    const int above = wiring_.above[at(from - wiring_.switches)];
    return above != none && is_switch(above) ? above : none;
}

void Routes::check(const std::vector<int>& vertices) const {
    const int count = wiring_.switches + wiring_.ends();
    for (const int vertex : vertices) {
        if (vertex < 0 || vertex >= count) throw std::out_of_range("no such switch or end of the fabric");
    }
}

Route Routes::route(int from, int to, int path) const {
    check({from, to});
    Route found;
    walk(from, to, path, found);
    return found;
}

/// Between vertices that there are; what `found` has room for is used again.
void Routes::walk(int from, int to, int path, Route& found) const {
    found.hops.clear();
    found.ending = Route().ending;
    found.rate = Route().rate;
    if (from == to) {
        found.ending = Ending::arrived;
        return;
    }
    const auto& w = wiring_;
    const int lid = lid_of(to, path);
    if (lid == 0) return;
    int in = 0;
    int here = from;
    found.rate = endless;
    if (!is_switch(from)) {
        const auto end = at(from - w.switches);
        here = w.above[end];
        in = w.above_port[end];
        found.rate = here == none ? 0 : w.above_rate[end];
        if (here == none) return;
        if (!is_switch(here)) {  // two ends on one cable
            found.ending = here == to ? Ending::arrived : Ending::elsewhere;
            return;
        }
    }
    for (;;) {
        const int out = port_out(here, lid);
        found.hops.push_back({here, in, out});
        if (out == 0 || here == to) {  // port 0 is the switch itself
            found.ending = here == to ? Ending::arrived : Ending::elsewhere;
            found.hops.back().out = 0;
            return;
        }
        const int next = out < w.ports ? w.peer[cell(here, out)] : none;
        if (next == none) {
            found.ending = Ending::dead_end;
            return;
        }
        found.rate = std::min(found.rate, w.rate[cell(here, out)]);
        in = w.peer_port[cell(here, out)];
        here = next;
        if (!is_switch(here)) {
            found.ending = here == to ? Ending::arrived : Ending::elsewhere;
            return;
        }
        if (std::ranges::find(found.hops, here, &Hop::at) != found.hops.end()) {
            found.ending = Ending::loop;
            return;
        }
    }
}

void Routes::towards(int to, int lid, Towards& found) const {
    const auto& w = wiring_;
    found.hops.assign(at(w.switches), 0);
    found.rate.assign(at(w.switches), 0);
    found.ending.assign(at(w.switches), Ending::arrived);
    found.seen.assign(at(w.switches), Seen::no);
    for (int start = 0; start < w.switches; ++start) {
        if (found.seen[at(start)] != Seen::no) continue;
        // Along the way to what is known already, and what is known back to its start.
        found.way.clear();
        std::uint16_t hops = 0;
        float rate = endless;
        Ending ending = Ending::arrived;
        for (int here = start;;) {
            found.seen[at(here)] = Seen::on_the_way;
            found.way.push_back(here);
            if (here == to) break;
            const int out = port_out(here, lid);
            const int next = out < w.ports ? w.peer[cell(here, out)] : none;
            if (out == 0 || (next != none && !is_switch(next) && next != to)) {
                ending = Ending::elsewhere;
                break;
            }
            if (next == none) {
                ending = Ending::dead_end;
                break;
            }
            if (next == to && !is_switch(next)) break;
            if (found.seen[at(next)] == Seen::on_the_way) {
                ending = Ending::loop;
                break;
            }
            if (found.seen[at(next)] == Seen::known) {
                hops = found.hops[at(next)];
                rate = found.rate[at(next)];
                ending = found.ending[at(next)];
                break;
            }
            here = next;
        }
        for (std::size_t left = found.way.size(); left-- > 0;) {
            const int back = found.way[left];
            if (ending == Ending::arrived && back != to)
                rate = std::min(rate, w.rate[cell(back, port_out(back, lid))]);
            found.hops[at(back)] = ++hops;
            found.rate[at(back)] = rate;
            found.ending[at(back)] = ending;
            found.seen[at(back)] = Seen::known;
        }
    }
}

template <typename Cell>
void Routes::each_pair(const std::vector<int>& vertices, Cell cell_of) const {
    check(vertices);
    Towards found;
    for (std::size_t column = 0; column < vertices.size(); ++column) {
        const int to = vertices[column];
        const int lid = lid_of(to, 0);
        if (lid != 0) towards(to, lid, found);
        for (std::size_t row = 0; row < vertices.size(); ++row) {
            const int from = vertices[row];
            std::uint16_t hops = 0;
            float rate = endless;
            Ending ending = Ending::arrived;
            if (from != to) {
                const int entry = entry_of(from);
                if (lid == 0) {
                    ending = Ending::no_cable;
                } else if (entry == none) {
                    const int above = wiring_.above[at(from - wiring_.switches)];
                    ending = above == none ? Ending::no_cable
                             : above == to ? Ending::arrived
                                           : Ending::elsewhere;
                    rate = wiring_.above_rate[at(from - wiring_.switches)];
                } else {
                    hops = found.hops[at(entry)];
                    ending = found.ending[at(entry)];
                    rate = found.rate[at(entry)];
                    if (!is_switch(from)) {
                        rate = std::min(rate, wiring_.above_rate[at(from - wiring_.switches)]);
                    }
                }
            }
            cell_of(row, column, hops, rate, ending);
        }
    }
}

std::vector<std::uint16_t> Routes::hops(const std::vector<int>& vertices) const {
    std::vector<std::uint16_t> matrix(vertices.size() * vertices.size());
    each_pair(vertices, [&](std::size_t row, std::size_t column, std::uint16_t hops, float, Ending ending) {
        matrix[row * vertices.size() + column] = ending == Ending::arrived ? hops : unreachable;
    });
    return matrix;
}

std::vector<float> Routes::rates(const std::vector<int>& vertices) const {
    std::vector<float> matrix(vertices.size() * vertices.size());
    each_pair(vertices, [&](std::size_t row, std::size_t column, std::uint16_t, float rate, Ending ending) {
        // Where one cable's speed is not known, neither is the least of all.
        if (ending == Ending::arrived && rate == 0) rate = unknown;
        matrix[row * vertices.size() + column] = ending == Ending::arrived ? rate : 0;
    });
    return matrix;
}

Broken Routes::broken(const std::vector<int>& vertices, int examples) const {
    Broken result;
    result.pairs.assign(static_cast<std::size_t>(Ending::elsewhere) + 1, 0);
    each_pair(vertices, [&](std::size_t row, std::size_t column, std::uint16_t, float, Ending ending) {
        const auto count = result.pairs[static_cast<std::size_t>(ending)] += row == column ? 0 : 1;
        if (ending != Ending::arrived && count <= examples)
            result.examples.push_back({vertices[row], vertices[column], ending});
    });
    return result;
}

Routes::Asymmetric Routes::asymmetric(const std::vector<int>& vertices, int examples) const {
    check(vertices);
    Asymmetric result;
    Route there;
    Route back;
    for (std::size_t a = 0; a < vertices.size(); ++a) {
        for (std::size_t b = a + 1; b < vertices.size(); ++b) {
            walk(vertices[a], vertices[b], 0, there);
            walk(vertices[b], vertices[a], 0, back);
            if (there.ending != Ending::arrived || back.ending != Ending::arrived) continue;
            const bool is_same =
                std::equal(there.hops.begin(), there.hops.end(), back.hops.rbegin(), back.hops.rend(),
                           [](const Hop& one, const Hop& other) { return one.at == other.at; });
            if (is_same) continue;
            if (result.pairs++ < examples) result.examples.emplace_back(vertices[a], vertices[b]);
        }
    }
    return result;
}

Routes::Loads Routes::loads(const std::vector<int>& from, const std::vector<int>& to,
                            const std::vector<double>& bytes) const {
    expect_size(to.size(), from.size(), "to");
    expect_size(bytes.size(), from.size(), "bytes");
    auto result = no_loads();
    for (std::size_t pair = 0; pair < from.size(); ++pair) {
        if (from[pair] == to[pair]) continue;
        const auto way = route(from[pair], to[pair]);
        if (way.ending != Ending::arrived) {
            result.lost += bytes[pair];
            continue;
        }
        if (!is_switch(from[pair])) result.up[at(from[pair] - wiring_.switches)] += bytes[pair];
        for (const auto& hop : way.hops) {
            if (hop.out != 0) result.out[cell(hop.at, hop.out)] += bytes[pair];
        }
    }
    return result;
}

Routes::Loads Routes::no_loads() const {
    Loads none_yet;
    none_yet.out.assign(at(wiring_.switches) * at(wiring_.ports), 0);
    none_yet.up.assign(wiring_.above.size(), 0);
    return none_yet;
}

Routes::Uniform Routes::uniform(const std::vector<int>& vertices) const {
    check(vertices);
    Uniform result{no_loads(), std::vector<double>(at(wiring_.switches), 0)};
    Towards found;
    std::vector<double> passing;
    std::vector<int> farthest_first;
    for (const int to : vertices) {
        const int lid = lid_of(to, 0);
        if (lid == 0) {
            result.loads.lost += static_cast<double>(vertices.size()) - 1;
            continue;
        }
        towards(to, lid, found);
        passing.assign(at(wiring_.switches), 0);
        for (const int from : vertices) {
            if (from == to) continue;
            const int entry = entry_of(from);
            const bool is_direct = entry == none && wiring_.above[at(from - wiring_.switches)] == to;
            if (!is_direct && (entry == none || found.ending[at(entry)] != Ending::arrived)) {
                result.loads.lost += 1;
                continue;
            }
            if (!is_switch(from)) result.loads.up[at(from - wiring_.switches)] += 1;
            if (!is_direct) passing[at(entry)] += 1;
        }
        // A switch comes after all that send through it: these are one hop farther.
        farthest_first.clear();
        for (int here = 0; here < wiring_.switches; ++here) {
            if (found.ending[at(here)] == Ending::arrived && here != to) farthest_first.push_back(here);
        }
        std::ranges::stable_sort(farthest_first, std::ranges::greater{},
                                 [&](int here) { return found.hops[at(here)]; });
        for (const int here : farthest_first) {
            const double flow = passing[at(here)];
            if (flow == 0) continue;
            const auto out = cell(here, port_out(here, lid));
            result.loads.out[out] += flow;
            result.together[at(here)] = std::max(result.together[at(here)], flow);
            if (is_switch(wiring_.peer[out])) passing[at(wiring_.peer[out])] += flow;
        }
    }
    return result;
}

}  // namespace isochrone::core::fabric
