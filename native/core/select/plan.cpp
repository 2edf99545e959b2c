// SPDX-License-Identifier: BSD-3-Clause
#include "select/plan.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "collectives/collective.hpp"
#include "json/read.hpp"

namespace isochrone::core::select {
namespace {

using Document = nlohmann::json;

/// A text that can be part of a message.
std::string one_line(const Document& document, const std::string& what) {
    auto text = document.get<std::string>();
    if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; })) {
        throw std::invalid_argument(what + " is not a line of text");
    }
    return text;
}

/// The recipe and the evidence of a rule.
Measured read_measured(const Document& document) {
    Measured measured;
    measured.recipe = compose::parse_recipe(document.at("recipe").get_ref<const std::string&>());
    const Document& evidence = document.at("evidence");
    measured.speedup = json::quantity(evidence.at("speedup"), "speedup");
    const auto recipe_s = [&] { return json::quantity(evidence.at("recipe_s"), "recipe_s"); };
    if (const auto size = evidence.find("measured_bytes"); size != evidence.end() && !size->is_null()) {
        measured.seconds = recipe_s();
        measured.bytes = json::integer(*size, 0, json::largest_integer, "measured_bytes");
    }
    if (const auto price = evidence.find("predicted_s"); price != evidence.end() && !price->is_null()) {
        const double price_s = json::quantity(*price, "predicted_s");
        if (price_s > 0) measured.took = recipe_s() / price_s;
    }
    return measured;
}

Rule read_rule(const Document& document) {
    Rule rule;
    static_cast<Measured&>(rule) = read_measured(document);
    rule.collective = collectives::named(document.at("collective").get_ref<const std::string&>()).name;
    rule.shape = one_line(document.at("shape"), "shape");
    rule.min_bytes = json::integer(document.at("min_bytes"), 0, json::largest_integer, "min_bytes");
    rule.max_bytes = json::integer(document.at("max_bytes"), 0, json::largest_integer, "max_bytes");
    if (rule.max_bytes < rule.min_bytes) throw std::invalid_argument("max_bytes is below min_bytes");
    if (const auto basis = document.find("basis"); basis != document.end()) {
        if (*basis != "measured" && *basis != "live")
            throw std::invalid_argument("basis is neither measured nor live");
        if (*basis == "live") rule.basis = Basis::live;
    }
    if (const auto order = document.find("order"); order != document.end() && !order->is_null())
        rule.order = one_line(*order, "order");
    if (const auto surveyed = document.find("surveyed"); surveyed != document.end() && !surveyed->is_null())
        rule.surveyed = read_measured(*surveyed);
    return rule;
}

MessageCost read_messages(const Document& document) {
    const double each_s = json::quantity(document.at("each_s"), "messages: each_s");
    return {each_s, static_cast<double>(
                        json::integer(document.at("most"), 1, json::largest_integer, "messages: most"))};
}

void sort_and_check(std::vector<Rule>& rules) {
    const auto key = [](const Rule& rule) {
        return std::tie(rule.collective, rule.shape, rule.order, rule.min_bytes);
    };
    std::sort(rules.begin(), rules.end(), [&](const Rule& a, const Rule& b) { return key(a) < key(b); });
    const auto overlap =
        std::adjacent_find(rules.begin(), rules.end(), [](const Rule& low, const Rule& high) {
            return low.collective == high.collective && low.shape == high.shape && low.order == high.order &&
                   high.min_bytes <= low.max_bytes;
        });
    if (overlap != rules.end()) {
        throw std::invalid_argument("two rules for " + overlap->collective + " on '" + overlap->shape +
                                    "' hold for " + std::to_string((overlap + 1)->min_bytes) + " bytes");
    }
}

}  // namespace

Plan parse_plan(std::string_view text) {
    std::string where;
    try {
        const Document document = Document::parse(text);
        if (document.at("isochrone") != "plan") throw std::invalid_argument("it is not a plan");
        if (document.at("schema_version") != 1)
            throw std::invalid_argument("it is of another schema version");
        Plan plan;
        const Document& topology = document.at("topology");
        plan.topology_fingerprint = topology.at("fingerprint").get<std::string>();
        if (const auto levels = topology.find("levels"); levels != topology.end()) {
            for (const Document& name : json::list(*levels, "levels")) {
                plan.level_names.push_back(topology::level_name(name.get<std::string>()));
            }
        }
        plan.mpi_library = document.at("mpi").at("library").get<std::string>();
        plan.mpi_abi = document.at("mpi").at("abi").get<std::string>();
        if (const auto made = document.find("provenance"); made != document.end() && made->is_object()) {
            const auto time = made->find("time");
            if (time != made->end() && time->is_string()) plan.time = time->get<std::string>();
        }
        if (const auto messages = document.find("messages");
            messages != document.end() && !messages->is_null())
            plan.messages = read_messages(*messages);
        const Document& rules = json::list(document.at("rules"), "rules");
        for (std::size_t i = 0; i < rules.size(); ++i) {
            where = "rules[" + std::to_string(i) + "]: ";
            plan.rules.push_back(read_rule(rules[i]));
        }
        where.clear();
        sort_and_check(plan.rules);
        return plan;
    } catch (const Document::exception& error) {
        throw std::invalid_argument(where + json::message(error));
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(where + error.what());
    }
}

namespace {

/// Those of ascending rules whose key is the wanted one.
template <class Key, class Of>
std::span<const Rule> range(std::span<const Rule> rules, const Key& wanted, Of&& key) {
    const auto first = std::partition_point(rules.begin(), rules.end(),
                                            [&](const Rule& rule) { return key(rule) < wanted; });
    const auto last =
        std::partition_point(first, rules.end(), [&](const Rule& rule) { return key(rule) == wanted; });
    return {first, last};
}

}  // namespace

std::span<const Rule> rules_for(const Plan& plan, std::string_view collective) {
    return range(std::span<const Rule>(plan.rules), collective,
                 [](const Rule& rule) -> std::string_view { return rule.collective; });
}

std::span<const Rule> rules_for(const Plan& plan, std::string_view collective, std::string_view shape) {
    return range(rules_for(plan, collective), shape,
                 [](const Rule& rule) -> std::string_view { return rule.shape; });
}

std::span<const Rule> for_order(std::span<const Rule> rules, std::string_view order) {
    const auto of = [&](std::string_view wanted) {
        return range(rules, wanted, [](const Rule& rule) -> std::string_view { return rule.order; });
    };
    const auto found = of(order);
    return found.empty() ? of("") : found;
}

const Rule* find_rule(std::span<const Rule> rules, std::int64_t size_bytes) {
    const auto after = std::partition_point(rules.begin(), rules.end(),
                                            [&](const Rule& rule) { return rule.min_bytes <= size_bytes; });
    if (after == rules.begin() || (after - 1)->max_bytes < size_bytes) return nullptr;
    return &*(after - 1);
}

bool has_live_rules(const Plan& plan) {
    return std::any_of(plan.rules.begin(), plan.rules.end(),
                       [](const Rule& rule) { return rule.basis == Basis::live; });
}

Plan as_surveyed(const Plan& plan) {
    Plan result = plan;
    for (Rule& rule : result.rules) {
        if (rule.basis != Basis::live) continue;
        if (rule.surveyed) {
            static_cast<Measured&>(rule) = *rule.surveyed;
            rule.basis = Basis::measured;
            rule.surveyed.reset();
        } else if (rule.recipe.kind != compose::Recipe::Kind::native) {
            static_cast<Measured&>(rule) = {};
            rule.left_out = LeftOut::as_live;
        }
    }
    return result;
}

void use_names_of(const Plan& plan, topology::Topology& topology) {
    if (plan.level_names.empty()) return;
    if (plan.level_names.size() != topology.levels.size()) {
        throw std::invalid_argument("the plan names " + std::to_string(plan.level_names.size()) +
                                    " levels, and its topology has " +
                                    std::to_string(topology.levels.size()));
    }
    for (std::size_t l = 0; l < topology.levels.size(); ++l) {
        topology.levels[l].name = plan.level_names[l];
    }
}

}  // namespace isochrone::core::select
