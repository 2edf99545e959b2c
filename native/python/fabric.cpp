// SPDX-License-Identifier: BSD-3-Clause
//
// Routes through fabrics for Python: made of arrays, and asked by vertex or in a server's lines.
#include "fabric.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fabric/routes.hpp"
#include "fabric/service.hpp"
#include "place/fabric_server.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace isochrone::core;

namespace {

template <typename T, typename... Form>
using Array = nb::ndarray<const T, nb::c_contig, nb::device::cpu, Form...>;
template <typename T>
using Rows = Array<T, nb::ndim<2>>;
template <typename T>
using Line = Array<T, nb::ndim<1>>;

template <typename T, typename Form>
std::vector<T> values(const nb::ndarray<const T, nb::c_contig, nb::device::cpu, Form>& array) {
    return {array.data(), array.data() + array.size()};
}

fabric::Wiring wiring(const Rows<std::int32_t>& peer, const Rows<std::uint8_t>& peer_port,
                      const Rows<float>& rate, const Rows<std::uint8_t>& out, const Line<std::int32_t>& lid,
                      const Line<std::uint8_t>& lmc, const Line<std::int32_t>& above,
                      const Line<std::uint8_t>& above_port, const Line<float>& above_rate) {
    fabric::Wiring made;
    made.switches = static_cast<int>(peer.shape(0));
    made.ports = static_cast<int>(peer.shape(1));
    made.lids = static_cast<int>(out.shape(1));
    made.peer = values(peer);
    made.peer_port = values(peer_port);
    made.rate = values(rate);
    made.out = values(out);
    made.lid = values(lid);
    made.lmc = values(lmc);
    made.above = values(above);
    made.above_port = values(above_port);
    made.above_rate = values(above_rate);
    return made;
}

/// An array of Python's that owns what was found.
template <typename T>
nb::ndarray<nb::numpy, T> array_of(std::vector<T> found, std::vector<std::size_t> shape) {
    auto held = std::make_unique<std::vector<T>>(std::move(found));
    T* const data = held->data();
    const nb::capsule owner(held.get(),
                            [](void* kept) noexcept { delete static_cast<std::vector<T>*>(kept); });
    held.release();
    return {data, shape.size(), shape.data(), owner};
}

std::tuple<int, std::vector<std::tuple<int, int, int>>, float> route(const fabric::Routes& routes, int from,
                                                                     int to, int path) {
    const auto found = routes.route(from, to, path);
    std::vector<std::tuple<int, int, int>> hops;
    for (const auto& hop : found.hops) hops.emplace_back(hop.at, hop.in, hop.out);
    return {static_cast<int>(found.ending), std::move(hops), found.rate};
}

auto arrays(const fabric::Routes& routes, fabric::Routes::Loads loads) {
    const auto& w = routes.wiring();
    return std::tuple(array_of(std::move(loads.out),
                               {static_cast<std::size_t>(w.switches), static_cast<std::size_t>(w.ports)}),
                      array_of(std::move(loads.up), {static_cast<std::size_t>(w.ends())}), loads.lost);
}

}  // namespace

void bind_fabric(nb::module_& m) {
    nb::class_<fabric::Routes>(m, "FabricRoutes", "Where the tables of a fabric send packets.")
        .def(
            "__init__",
            [](fabric::Routes* self, const Rows<std::int32_t>& peer, const Rows<std::uint8_t>& peer_port,
               const Rows<float>& rate, const Rows<std::uint8_t>& out, const Line<std::int32_t>& lid,
               const Line<std::uint8_t>& lmc, const Line<std::int32_t>& above,
               const Line<std::uint8_t>& above_port, const Line<float>& above_rate) {
                new (self) fabric::Routes(
                    wiring(peer, peer_port, rate, out, lid, lmc, above, above_port, above_rate));
            },
            "peer"_a, "peer_port"_a, "rate"_a, "out"_a, "lid"_a, "lmc"_a, "above"_a, "above_port"_a,
            "above_rate"_a)
        .def("route", &route, "source"_a, "target"_a, "path"_a = 0,
             "How the route ends, its (switch, port in, port out), and the Gb/s of its slowest cable.")
        .def(
            "hops",
            [](const fabric::Routes& routes, const std::vector<int>& vertices) {
                std::vector<std::uint16_t> found;
                {
                    const nb::gil_scoped_release release;
                    found = routes.hops(vertices);
                }
                return array_of(std::move(found), {vertices.size(), vertices.size()});
            },
            "vertices"_a, "[from, to], switches passed; 65535 where the route does not arrive.")
        .def(
            "rates",
            [](const fabric::Routes& routes, const std::vector<int>& vertices) {
                std::vector<float> found;
                {
                    const nb::gil_scoped_release release;
                    found = routes.rates(vertices);
                }
                return array_of(std::move(found), {vertices.size(), vertices.size()});
            },
            "vertices"_a,
            "[from, to], Gb/s of the slowest cable; 0 where the route does not arrive, NaN where a cable's "
            "speed "
            "is not known.")
        .def(
            "broken",
            [](const fabric::Routes& routes, const std::vector<int>& vertices, int examples) {
                fabric::Broken found;
                {
                    const nb::gil_scoped_release release;
                    found = routes.broken(vertices, examples);
                }
                std::vector<std::tuple<int, int, int>> pairs;
                for (const auto& each : found.examples)
                    pairs.emplace_back(each.from, each.to, static_cast<int>(each.ending));
                return std::pair(found.pairs, pairs);
            },
            "vertices"_a, "examples"_a, "Pairs by how their routes end, and examples of those not arriving.")
        .def(
            "asymmetric",
            [](const fabric::Routes& routes, const std::vector<int>& vertices, int examples) {
                const nb::gil_scoped_release release;
                auto found = routes.asymmetric(vertices, examples);
                return std::pair(found.pairs, std::move(found.examples));
            },
            "vertices"_a, "examples"_a, "How many pairs have another way back, and examples.")
        .def(
            "loads",
            [](const fabric::Routes& routes, const Line<std::int32_t>& from, const Line<std::int32_t>& to,
               const Line<double>& bytes) {
                return arrays(routes, routes.loads(values(from), values(to), values(bytes)));
            },
            "source"_a, "target"_a, "weights"_a,
            "[switch, port] and [end], what flows out there, and what is lost.")
        .def(
            "uniform",
            [](const fabric::Routes& routes, const std::vector<int>& vertices) {
                fabric::Routes::Uniform found;
                {
                    const nb::gil_scoped_release release;
                    found = routes.uniform(vertices);
                }
                const auto switches = found.together.size();
                return std::pair(arrays(routes, std::move(found.loads)),
                                 array_of(std::move(found.together), {switches}));
            },
            "vertices"_a,
            "The same of one byte between each two; and [switch], the most towards one vertex.");
    nb::class_<fabric::Service>(m, "FabricService", "Answers to the lines that a server is asked.")
        .def(nb::init<fabric::Routes, std::vector<std::uint64_t>,
                      const std::vector<std::pair<std::string, int>>&,
                      const std::vector<std::pair<std::uint64_t, int>>&, std::string>(),
             "routes"_a, "guids"_a, "names"_a, "more_guids"_a, "version"_a)
        .def(
            "answer",
            [](const fabric::Service& service, const nb::bytes& lines, const nb::bytes& health) {
                fabric::Service::Answers found;
                {
                    const nb::gil_scoped_release release;
                    found = service.answer({lines.c_str(), lines.size()}, {health.c_str(), health.size()});
                }
                return std::tuple(nb::bytes(found.text.data(), found.text.size()), found.used, found.lines,
                                  found.errors);
            },
            "lines"_a, "health"_a,
            "The answers, how many bytes of the lines they are to, how many lines, and how many errors.")
        .def(
            "find",
            [](const fabric::Service& service, const std::string& name) { return service.find(name); },
            "name"_a, "The vertex of a host or GUID; -1: none.");
    m.def(
        "check_fabric_address",
        [](const std::string& text) { static_cast<void>(place::parse_fabric_server(text)); }, "text"_a,
        "Whether a text is [hops@|speed@|time@]HOST:PORT. Raises ValueError with one line if not.");
    m.attr("FABRIC_LONGEST_LINE") = fabric::longest_line;
}
