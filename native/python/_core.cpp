// SPDX-License-Identifier: BSD-3-Clause
//
// isochrone._core: what Python uses of native/core. What is in it, with types, is said in
// src/isochrone/_core.pyi.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "collectives/collective.hpp"
#include "compose/recipe.hpp"
#include "fabric.hpp"
#include "mapping.hpp"
#include "patterns/pattern.hpp"
#include "place/hardware.hpp"
#include "place/layout.hpp"
#include "ranks.hpp"
#include "schedules.hpp"
#include "select/candidates.hpp"
#include "select/choose.hpp"
#include "select/pricing.hpp"
#include "simulate/exchange.hpp"
#include "simulate/network.hpp"
#include "simulate/predict.hpp"
#include "simulate/traffic.hpp"
#include "topology/topology.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace isochrone::core;

namespace {

using PlaceTuple = std::tuple<std::string, std::optional<std::string>, std::string>;

/// Texts in error lines may be cut within a character.
nb::str decoded(std::string_view text) {
    return nb::steal<nb::str>(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

nb::list table_rows(const collectives::Collective& collective, algorithms::Table (*table)()) {
    nb::list rows;
    if (table == nullptr) return rows;
    for (const auto& row : table()) {
        if (!collective.has_lengths_for(row)) continue;
        nb::dict entry;
        entry["collective"] = decoded(collective.name);
        entry["name"] = decoded(row.name);
        entry["words"] = decoded(row.words);
        entry["good_for"] = decoded(row.good_for);
        entry["source"] = decoded(row.source);
        entry["default_parameter"] = row.default_parameter;
        entry["default_segment"] = row.default_segment;
        nb::list tuned;
        for (const int parameter : row.tuned) {
            if (parameter != 0) tuned.append(parameter);
        }
        entry["tuned_parameters"] = tuned;
        entry["quadratic_messages"] = row.quadratic_messages;
        entry["commutative_only"] = row.commutative_only;
        entry["mappable"] = row.tree != nullptr;
        rows.append(entry);
    }
    return rows;
}

nb::list algorithm_rows() {
    nb::list rows;
    for (const auto& collective : collectives::all()) rows.extend(table_rows(collective, collective.across));
    return rows;
}

nb::list collective_rows() {
    static constexpr const char* agreed[] = {"message", "block", "blocks", "nothing"};
    nb::list rows;
    for (const auto& collective : collectives::all()) {
        nb::dict entry;
        entry["name"] = decoded(collective.name);
        entry["words"] = decoded(collective.words);
        entry["rooted"] = collective.rooted;
        entry["reduces"] = collective.reduces;
        entry["has_data"] = collective.has_data;
        entry["has_blocks"] = collective.has_blocks();
        entry["agreed"] = agreed[static_cast<std::size_t>(collective.agreed)];
        entry["in_order"] = collective.in_order;
        entry["up"] = table_rows(collective, collective.up);
        entry["across"] = table_rows(collective, collective.across);
        entry["down"] = table_rows(collective, collective.down);
        rows.append(entry);
    }
    return rows;
}

nb::dict recipe_parts(std::string_view text) {
    const compose::Recipe recipe = compose::parse_recipe(text);
    nb::list levels;
    nb::list algorithms;
    for (const compose::Part& part : recipe.parts) {
        if (!part.level.empty()) levels.append(part.level);
        nb::list ways;
        ways.append(compose::to_text(part.choice));
        if (!part.down.algorithm.empty()) ways.append(compose::to_text(part.down));
        algorithms.append(ways);
    }
    nb::dict parts;
    parts["levels"] = levels;
    parts["algorithms"] = algorithms;
    parts["segment_bytes"] = recipe.segment_bytes;
    parts["order"] = compose::name_of(recipe.order());
    return parts;
}

nb::list pattern_rows() {
    nb::list rows;
    for (const auto& pattern : patterns::all()) {
        nb::dict entry;
        entry["name"] = decoded(pattern.name);
        entry["words"] = decoded(pattern.words);
        entry["like"] = decoded(pattern.like);
        entry["rooted"] = pattern.rooted;
        rows.append(entry);
    }
    return rows;
}

std::string rename_levels(std::string_view text, const std::map<std::string, std::string>& names) {
    compose::Recipe recipe = compose::parse_recipe(text);
    for (compose::Part& part : recipe.parts) {
        const auto found = names.find(part.level);
        if (found != names.end()) part.level = found->second;
    }
    return compose::to_text(recipe);
}

place::Layout match(std::string_view topology_json, const std::vector<PlaceTuple>& places) {
    const topology::Topology topology = topology::parse(topology_json);
    std::vector<topology::Place> ranks;
    for (const auto& [host, cpus, signature] : places) ranks.push_back({host, cpus.value_or(""), signature});
    return place::match(topology, ranks);
}

using Points = std::vector<std::pair<std::int64_t, double>>;
/// Latency, which is half of a round trip, send overhead, receive overhead, gap, capacity.
using LinksTuple = std::tuple<double, Points, Points, Points, std::optional<double>>;

place::Layout layout(std::vector<std::string> levels, std::vector<std::vector<int>> group_of,
                     const std::vector<std::optional<LinksTuple>>& links) {
    const std::size_t ranks = group_of.empty() ? 0 : group_of.front().size();
    if (group_of.size() != levels.size() || links.size() != levels.size() ||
        std::any_of(group_of.begin(), group_of.end(),
                    [&](const auto& groups) { return groups.size() != ranks; })) {
        throw std::invalid_argument("levels, groups and links do not fit each other");
    }
    place::Layout made{static_cast<int>(ranks), std::move(levels), std::move(group_of), {}};
    for (const auto& level : links) {
        plogp::Parameters& parameters = made.links.emplace_back();
        if (!level) continue;
        const auto& [latency_s, send_s, receive_s, gap_s, capacity] = *level;
        parameters = plogp::of_round_trip({latency_s, {send_s}, {receive_s}, {gap_s}, capacity.value_or(0)});
    }
    return made;
}

place::Layout restricted(const place::Layout& layout, const std::vector<int>& ranks) {
    for (const int rank : ranks) check_rank(layout, rank);
    return layout.restricted_to(ranks);
}

double predict(std::string_view collective, const place::Layout& layout, std::string_view recipe, int root,
               std::int64_t size_bytes) {
    return simulate::predict(collectives::named(collective), compose::parse_recipe(recipe), layout, root,
                             size_bytes)
        .slowest_s;
}

place::Layout hardware(const std::vector<std::string>& hosts) {
    if (hosts.empty()) throw std::invalid_argument("there are no ranks");
    std::vector<place::Seat> seats;
    for (const std::string& host : hosts) seats.push_back({.host = host});
    return place::of_hardware(seats);
}

/// As bytes, so that millions of rows stay what they are: [row][4] of int64.
nb::bytes traffic(std::string_view collective, int ranks, std::string_view recipe, int root,
                  std::int64_t size_bytes, std::int64_t most) {
    std::vector<simulate::Flow> flows;
    {
        const nb::gil_scoped_release release;
        flows = simulate::traffic(collectives::named(collective), compose::parse_recipe(recipe), ranks, root,
                                  size_bytes, most);
    }
    static_assert(sizeof(simulate::Flow) == 4 * sizeof(std::int64_t));
    return nb::bytes(flows.data(), flows.size() * sizeof(simulate::Flow));
}

std::vector<double> exchange_s(
    const nb::ndarray<const std::int64_t, nb::shape<-1, 4>, nb::c_contig, nb::device::cpu>& flows, int rounds,
    const place::Layout& layout, std::vector<int> pool_of, std::vector<int> processors, std::int64_t most) {
    std::vector<simulate::Flow> read;
    for (std::size_t i = 0; i < flows.shape(0); ++i) {
        const std::int64_t* row = flows.data() + 4 * i;
        read.push_back({row[0], row[1], row[2], row[3]});
    }
    return simulate::exchange_s(read, rounds, layout, {std::move(pool_of), std::move(processors)}, most);
}

std::pair<std::string, std::string> choose(std::string_view plan_json, std::string_view collective,
                                           const place::Layout& layout, int root, std::int64_t size_bytes,
                                           bool as_surveyed) {
    const auto plan = select::parse_plan(plan_json);
    const auto choice = select::choose(as_surveyed ? select::as_surveyed(plan) : plan,
                                       collectives::named(collective), layout, root, size_bytes);
    return {compose::to_text(choice.recipe), choice.reason};
}

std::pair<std::string, double> basis(std::string_view plan_json, std::string_view collective,
                                     const place::Layout& layout, int root, std::int64_t size_bytes) {
    static constexpr const char* names[] = {"none", "measured", "live", "interpolated", "predicted"};
    const auto choice = select::choose(select::parse_plan(plan_json), collectives::named(collective), layout,
                                       root, size_bytes);
    return {names[static_cast<std::size_t>(choice.basis)], choice.speedup};
}

/// What each message takes, and with how many that was seen, by kinds of calls whose recipes each have a
/// price, a number of messages and a time.
std::optional<std::pair<double, double>> message_cost(
    const std::vector<std::vector<std::tuple<double, double, double>>>& kinds) {
    select::MessageCost cost;
    for (const auto& kind : kinds) {
        std::vector<select::Tried> tried;
        for (const auto& [price_s, count, measured_s] : kind)
            tried.push_back({{{}, price_s, count}, measured_s});
        cost.add(tried);
    }
    if (!cost.is_known()) return std::nullopt;
    return std::pair{cost.each_s(), cost.most_messages()};
}

/// The cheapest of what a program may try in its calls, what it would try first at the head; nothing if
/// pricing takes longer than `most_s`.
std::optional<std::vector<std::pair<std::string, double>>> predicted(std::string_view plan_json,
                                                                     std::string_view collective,
                                                                     const place::Layout& layout, int root,
                                                                     std::int64_t size_bytes, double most_s) {
    const auto plan = select::parse_plan(plan_json);
    const auto& row = collectives::named(collective);
    select::Pricing pricing(select::candidates(plan, row, layout, size_bytes), row, layout, root, size_bytes);
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(most_s);
    while (pricing.step()) {
        if (std::chrono::steady_clock::now() > end) return std::nullopt;
    }
    auto found = pricing.cheapest();
    if (plan.messages.each_s() > 0) {
        constexpr double any_price_s = std::numeric_limits<double>::infinity();
        const select::Expectation nothing_tried({});
        if (const auto* const first =
                pricing.next_by_messages(nothing_tried, {}, plan.messages, any_price_s)) {
            std::erase_if(found, [&](const auto& priced) { return priced.recipe == first->recipe; });
            found.insert(found.begin(), *first);
            found.resize(std::min(found.size(), select::most_tried));
        }
    }
    std::vector<std::pair<std::string, double>> result;
    for (const auto& priced : found) result.emplace_back(compose::to_text(priced.recipe), priced.seconds);
    return result;
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "What Python uses of Isochrone's core: recipes, layouts, predicted times, schedules and plans.";
    m.attr("__version__") = ISOCHRONE_VERSION;

    nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
        try {
            std::rethrow_exception(pointer);
        } catch (const std::invalid_argument& error) {
            PyErr_SetObject(PyExc_ValueError, decoded(error.what()).ptr());
        }
    });

    m.def("algorithms", &algorithm_rows, "The rows of the tables of algorithms.");
    m.def("collectives", &collective_rows, "The rows of the table of collectives.");
    m.def("patterns", &pattern_rows, "The rows of the table of point-to-point patterns.");
    m.def(
        "parse_recipe", [](std::string_view text) { return compose::to_text(compose::parse_recipe(text)); },
        "text"_a,
        "The recipe as Isochrone writes it. Raises ValueError with one line that says what is wrong where.");

    m.def("recipe_parts", &recipe_parts, "text"_a,
          "What a recipe is made of. Raises ValueError with one line that says what is wrong where.");
    m.def("rename_levels", &rename_levels, "recipe"_a, "names"_a,
          "The recipe with other names for its levels, by their old ones.");

    nb::class_<place::Layout>(m, "Layout", "The groups of the ranks of one communicator, level by level.")
        .def_ro("size", &place::Layout::size, "Number of ranks.")
        .def_ro("levels", &place::Layout::levels, "Names of the levels, outermost first.")
        .def_ro("group_of", &place::Layout::group_of, "[level][rank]: the number of the rank's group.")
        .def(
            "shape",
            [](const place::Layout& layout, std::optional<int> root) {
                if (!root) return place::shape(layout);
                check_rank(layout, *root);
                return place::shape(layout, *root);
            },
            "root"_a = nb::none(), "The shape as the rules of plans name it.")
        .def("shapes", &place::shapes, "That with each root.")
        .def(
            "has_runs",
            [](const place::Layout& layout, std::string_view level) {
                const int index = layout.level(level);
                if (index < 0) throw std::invalid_argument("there is no level '" + std::string(level) + "'");
                return layout.has_runs(index);
            },
            "level"_a, "Whether every group of a level is a run of consecutive ranks.")
        .def("order", &place::order,
             "In which order the ranks go through the groups, as rules of plans name it.")
        .def("way_s_per_byte", &simulate::way_s_per_byte,
             "[level], the seconds that a byte keeps a way out of or into one of its groups.")
        .def("restricted_to", &restricted, "ranks"_a, "The layout of some of the ranks, in this order.");

    m.def("layout", &layout, "levels"_a, "group_of"_a, "links"_a, "A layout of what is known of it.");
    m.def("hardware", &hardware, "hosts"_a, "The layout of ranks that nobody surveyed, by their hosts.");
    m.def("match", &match, "topology_json"_a, "places"_a, nb::call_guard<nb::gil_scoped_release>(),
          "The layout of ranks at these places (host, cpus or None, signature) in the text of a "
          "topology.json.");
    m.def("predict", &predict, "collective"_a, "layout"_a, "recipe"_a, "root"_a, "size_bytes"_a,
          nb::call_guard<nb::gil_scoped_release>(),
          "Simulated time of the slowest rank in a collective, in seconds.");
    m.def("message_cost", &message_cost, "kinds"_a,
          "What each message took beside prices, and with how many that was seen at the most.");
    m.def("traffic", &traffic, "collective"_a, "ranks"_a, "recipe"_a, "root"_a, "size_bytes"_a, "most"_a,
          "What ranks send one another in a collective by a flat recipe.");
    m.def("exchange_s", &exchange_s, "flows"_a, "rounds"_a, "layout"_a, "pool_of"_a, "processors"_a, "most"_a,
          nb::call_guard<nb::gil_scoped_release>(),
          "Simulated times of messages that ranks exchange again and again, in seconds.");
    m.def(
        "choose", &choose, "plan_json"_a, "collective"_a, "layout"_a, "root"_a, "size_bytes"_a,
        "as_surveyed"_a = false, nb::call_guard<nb::gil_scoped_release>(),
        "The recipe of a plan for a collective, and why. as_surveyed: of a reduction whose result may differ "
        "in the last bit.");
    m.def("basis", &basis, "plan_json"_a, "collective"_a, "layout"_a, "root"_a, "size_bytes"_a,
          nb::call_guard<nb::gil_scoped_release>(),
          "How that is known, measured, live, interpolated, predicted or none, and its speedup.");
    m.def(
        "predicted", &predicted, "plan_json"_a, "collective"_a, "layout"_a, "root"_a, "size_bytes"_a,
        "most_s"_a, nb::call_guard<nb::gil_scoped_release>(),
        "What a program may try where a plan has no rule, the first at the head, then the cheapest, with the "
        "model's seconds; None: to price them takes longer than most_s.");
    bind_fabric(m);
    bind_mapping(m);
    bind_schedules(m);
}
