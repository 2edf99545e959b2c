// SPDX-License-Identifier: BSD-3-Clause
#include "select/plan.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "json/read.hpp"

namespace isochrone::core::select {
namespace {

using Document = nlohmann::json;

Rule read_rule(const Document& document) {
    Rule rule;
    rule.collective = document.at("collective").get<std::string>();
    rule.shape = document.at("shape").get<std::string>();
    rule.min_bytes = json::integer(document.at("min_bytes"), 0, json::largest_integer, "min_bytes");
    rule.max_bytes = json::integer(document.at("max_bytes"), 0, json::largest_integer, "max_bytes");
    if (rule.max_bytes < rule.min_bytes) throw std::invalid_argument("max_bytes is below min_bytes");
    rule.recipe = compose::parse_recipe(document.at("recipe").get_ref<const std::string&>());
    rule.speedup = json::quantity(document.at("evidence").at("speedup"), "speedup");
    return rule;
}

void sort_and_check(std::vector<Rule>& rules) {
    const auto key = [](const Rule& rule) { return std::tie(rule.collective, rule.shape, rule.min_bytes); };
    std::sort(rules.begin(), rules.end(), [&](const Rule& a, const Rule& b) { return key(a) < key(b); });
    const auto overlap =
        std::adjacent_find(rules.begin(), rules.end(), [](const Rule& low, const Rule& high) {
            return low.collective == high.collective && low.shape == high.shape &&
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
        plan.topology_fingerprint = document.at("topology").at("fingerprint").get<std::string>();
        plan.mpi_library = document.at("mpi").at("library").get<std::string>();
        plan.mpi_abi = document.at("mpi").at("abi").get<std::string>();
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

const Rule* find_rule(const Plan& plan, std::string_view collective, std::string_view shape,
                      std::int64_t size_bytes) {
    using Key = std::tuple<std::string_view, std::string_view, std::int64_t>;
    const auto after =
        std::upper_bound(plan.rules.begin(), plan.rules.end(), Key{collective, shape, size_bytes},
                         [](const Key& wanted, const Rule& rule) {
                             return wanted < Key{rule.collective, rule.shape, rule.min_bytes};
                         });
    if (after == plan.rules.begin()) return nullptr;
    const Rule& rule = *(after - 1);
    const bool holds = rule.collective == collective && rule.shape == shape && size_bytes <= rule.max_bytes;
    return holds ? &rule : nullptr;
}

}  // namespace isochrone::core::select
