// SPDX-License-Identifier: BSD-3-Clause
//
// Mapping of ranks for Python: a problem made of arrays, and searches that can be watched and interrupted.
#include "mapping.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <future>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "mapping/optimiser.hpp"
#include "mapping/ways.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace isochrone::core;

namespace {

template <typename T, typename... Form>
using Array = nb::ndarray<const T, nb::c_contig, nb::device::cpu, Form...>;

mapping::Problem problem(const Array<std::int64_t, nb::ndim<1>>& first,
                         const Array<std::int32_t, nb::ndim<1>>& neighbours,
                         const Array<double, nb::ndim<2>>& weights, std::vector<std::vector<int>> groups,
                         std::vector<std::vector<std::vector<double>>> distances,
                         std::vector<std::int64_t> capacities, std::vector<int> fixed,
                         std::vector<int> dimensions) {
    mapping::Problem made{
        {}, {std::move(groups), std::move(distances), std::move(capacities)}, std::move(dimensions)};
    mapping::Graph& graph = made.graph;
    const auto require = [](bool holds) {
        if (!holds) throw std::invalid_argument("the graph's arrays do not fit each other");
    };
    require(first.size() > 0 && weights.shape(0) == neighbours.size());
    require(static_cast<int>(weights.shape(1)) == made.places.terms());
    const std::size_t count = first.size() - 1;
    require(first.data()[0] == 0 && first.data()[count] == static_cast<std::int64_t>(neighbours.size()));
    graph.terms = made.places.terms();
    graph.first.clear();
    for (std::size_t i = 0; i <= count; ++i) {
        require(i == 0 || first.data()[i - 1] <= first.data()[i]);
        graph.first.push_back(static_cast<std::size_t>(first.data()[i]));
    }
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
        require(neighbours.data()[i] >= 0 && static_cast<std::size_t>(neighbours.data()[i]) < count);
    }
    graph.neighbours.assign(neighbours.data(), neighbours.data() + neighbours.size());
    graph.weights.assign(weights.data(), weights.data() + weights.size());
    graph.sizes.assign(count, 1);
    graph.fixed = fixed.empty() ? std::vector<int>(count, -1) : std::move(fixed);
    require(graph.fixed.size() == count);
    long long product = 1;
    for (const int dimension : made.dimensions) product *= std::max(dimension, 0);
    if (!made.dimensions.empty() && product != static_cast<long long>(count)) {
        throw std::invalid_argument("the dimensions are not those of a grid of " + std::to_string(count) +
                                    " ranks");
    }
    mapping::check(made);
    return made;
}

void check_assignment(const mapping::Problem& problem, const std::vector<int>& at) {
    if (at.size() != problem.graph.sizes.size())
        throw std::invalid_argument("a mapping needs a place for each rank");
    for (const int place : at) {
        if (place < 0 || place >= problem.places.count())
            throw std::invalid_argument("a rank is at no place");
    }
}

/// Runs an optimiser on another thread, looks for Ctrl-C meanwhile, and tells `tick` the seconds gone by.
std::vector<int> searched(const mapping::Problem& problem, std::string_view method, std::uint64_t seed,
                          int threads, std::optional<double> seconds, const nb::object& tick) {
    using Clock = std::chrono::steady_clock;
    const mapping::Optimiser* optimiser = nullptr;
    for (const auto& each : mapping::optimisers()) {
        if (each.name == method) optimiser = &each;
    }
    if (optimiser == nullptr) throw std::invalid_argument("there is no method '" + std::string(method) + "'");
    const auto begin = Clock::now();
    const auto elapsed = [begin] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
    std::atomic<bool> is_stopped{false};
    mapping::Search search;
    search.seed = seed;
    search.threads = threads;
    search.goes_on = seconds.has_value();
    search.left_s = [&] {
        if (is_stopped) return 0.0;
        return seconds ? *seconds - elapsed() : std::numeric_limits<double>::infinity();
    };
    auto result = std::async(std::launch::async, [&] { return optimiser->function(problem, search); });
    try {
        while (true) {
            {
                const nb::gil_scoped_release released;
                if (result.wait_for(std::chrono::milliseconds(50)) == std::future_status::ready) break;
            }
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
            if (!tick.is_none()) tick(elapsed());
        }
    } catch (...) {
        is_stopped = true;
        const nb::gil_scoped_release released;
        result.wait();
        throw;
    }
    return result.get();
}

std::vector<int> relieved(const mapping::Problem& problem, const Array<double, nb::ndim<1>>& out,
                          const Array<double, nb::ndim<1>>& in, const mapping::WayPrices& prices,
                          const std::vector<int>& at, std::uint64_t seed, std::optional<double> seconds) {
    using Clock = std::chrono::steady_clock;
    check_assignment(problem, at);
    const auto begin = Clock::now();
    mapping::Search search;
    search.seed = seed;
    if (seconds) {
        search.left_s = [&] {
            return *seconds - std::chrono::duration<double>(Clock::now() - begin).count();
        };
    }
    const mapping::Directions bytes{{out.data(), out.data() + out.size()},
                                    {in.data(), in.data() + in.size()}};
    const nb::gil_scoped_release release;
    return mapping::relieved(problem, bytes, prices, at, search);
}

nb::list optimiser_rows() {
    nb::list rows;
    for (const auto& each : mapping::optimisers()) {
        nb::dict row;
        row["name"] = nb::str(each.name.data(), each.name.size());
        row["words"] = nb::str(each.words.data(), each.words.size());
        row["source"] = nb::str(each.source.data(), each.source.size());
        rows.append(row);
    }
    return rows;
}

}  // namespace

void bind_mapping(nb::module_& m) {
    m.def("optimisers", &optimiser_rows, "The rows of the table of optimisers of mappings.");
    nb::class_<mapping::Problem>(m, "MappingProblem", "Tasks, and places for them.")
        .def(
            "__init__",
            [](mapping::Problem* self, const Array<std::int64_t, nb::ndim<1>>& first,
               const Array<std::int32_t, nb::ndim<1>>& neighbours, const Array<double, nb::ndim<2>>& weights,
               std::vector<std::vector<int>> groups, std::vector<std::vector<std::vector<double>>> distances,
               std::vector<std::int64_t> capacities, std::vector<int> fixed, std::vector<int> dimensions) {
                new (self) mapping::Problem(problem(first, neighbours, weights, std::move(groups),
                                                    std::move(distances), std::move(capacities),
                                                    std::move(fixed), std::move(dimensions)));
            },
            "first"_a, "neighbours"_a, "weights"_a, "groups"_a, "distances"_a, "capacities"_a,
            "fixed"_a = std::vector<int>{}, "dimensions"_a = std::vector<int>{})
        .def("search", &searched, "method"_a, "seed"_a = 0, "threads"_a = 1, "seconds"_a = nb::none(),
             "tick"_a = nb::none(), "The place of each task; empty where the method does not apply.")
        .def(
            "cost",
            [](const mapping::Problem& problem, const std::vector<int>& at) {
                check_assignment(problem, at);
                return mapping::cost(problem.graph, problem.places, at);
            },
            "at"_a, "What a mapping costs, each edge counted once.")
        .def("relieved", &relieved, "out"_a, "in_"_a, "prices"_a, "at"_a, "seed"_a = 0,
             "seconds"_a = nb::none(), "A mapping with the busiest ways relieved.")
        .def(
            "overload",
            [](const mapping::Problem& problem, const std::vector<int>& at) {
                check_assignment(problem, at);
                return mapping::worth(problem.graph, problem.places, at).over;
            },
            "at"_a, "How many tasks are at places beyond their capacity.");
}
