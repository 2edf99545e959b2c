// SPDX-License-Identifier: BSD-3-Clause
//
// What ranks do in a collective, and when, as Python knows it.
#include "schedules.hpp"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <stdexcept>

#include "collectives/collective.hpp"
#include "compose/compose.hpp"
#include "compose/recipe.hpp"
#include "ranks.hpp"
#include "simulate/predict.hpp"
#include "simulate/timeline.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace isochrone::core;

namespace {

nb::str kind_of(schedule::OpKind kind) {
    static constexpr const char* kinds[] = {"send", "recv", "reduce", "copy", "collective"};
    return nb::str(kinds[static_cast<std::size_t>(kind)]);
}

nb::object index_or_none(int index) {
    return index < 0 ? nb::object(nb::none()) : nb::object(nb::int_(index));
}

compose::Resolved resolved_recipe(std::string_view collective, const place::Layout& layout,
                                  std::string_view recipe, int root) {
    check_rank(layout, root);
    const auto parsed = compose::parse_recipe(recipe);
    if (parsed.kind == compose::Recipe::Kind::native) throw std::invalid_argument("'native' has no schedule");
    return compose::resolve(collectives::named(collective), parsed, layout);
}

std::int64_t messages(std::string_view collective, const place::Layout& layout, std::string_view recipe,
                      int root, std::int64_t size_bytes) {
    const auto resolved = resolved_recipe(collective, layout, recipe, root);
    return simulate::messages(simulate::composed(resolved, layout, root, size_bytes), layout);
}

nb::list schedule_of(std::string_view collective, const place::Layout& layout, std::string_view recipe,
                     int rank, int root) {
    check_rank(layout, rank);
    const auto resolved = resolved_recipe(collective, layout, recipe, root);
    const auto found = compose::schedule_of(resolved, layout, rank, root);
    nb::list operations;
    for (const auto& op : found.ops) {
        nb::list after;
        for (const auto& dependency : op.after) after.append(dependency.op);
        nb::dict entry;
        entry["kind"] = kind_of(op.kind);
        entry["peer"] = op.peer;
        entry["level"] = index_or_none(op.level);
        entry["stage"] = op.stage;
        entry["after"] = after;
        operations.append(entry);
    }
    return operations;
}

nb::list timeline(std::string_view collective, const place::Layout& layout, std::string_view recipe, int root,
                  std::int64_t size_bytes, std::int64_t most) {
    simulate::Timeline found{.most = most};
    {
        const nb::gil_scoped_release release;
        static_cast<void>(simulate::predict(collectives::named(collective), compose::parse_recipe(recipe),
                                            layout, root, size_bytes, {.timeline = &found}));
    }
    nb::list steps;
    for (const auto& step : found.steps) {
        nb::dict entry;
        entry["rank"] = step.rank;
        entry["kind"] = kind_of(step.kind);
        entry["peer"] = step.peer;
        entry["level"] = index_or_none(step.level);
        entry["op"] = step.op;
        entry["segment"] = step.segment;
        entry["size_bytes"] = step.size_bytes;
        entry["sent_by"] = index_or_none(step.sent_by);
        entry["begin_s"] = step.begin_s;
        entry["free_s"] = step.free_s;
        entry["leave_s"] = step.leave_s;
        entry["end_s"] = step.end_s;
        entry["after"] = step.after;
        entry["behind"] = index_or_none(step.behind);
        steps.append(entry);
    }
    return steps;
}

}  // namespace

void bind_schedules(nb::module_& m) {
    m.def("schedule", &schedule_of, "collective"_a, "layout"_a, "recipe"_a, "rank"_a, "root"_a,
          "What one rank does in a collective, one dict per operation.");
    m.def("messages", &messages, "collective"_a, "layout"_a, "recipe"_a, "root"_a, "size_bytes"_a,
          nb::call_guard<nb::gil_scoped_release>(), "How many messages all ranks send.");
    m.def("timeline", &timeline, "collective"_a, "layout"_a, "recipe"_a, "root"_a, "size_bytes"_a, "most"_a,
          "What all ranks do in a collective, and when, one dict per operation and segment.");
}
