// SPDX-License-Identifier: BSD-3-Clause
#include "bench/work.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "comm/cpu_list.hpp"
#include "compose/recipe.hpp"

namespace isochrone::mpi::bench {
namespace {

using nlohmann::json;

std::int64_t integer(const json& object, const char* key, std::int64_t least, std::int64_t most) {
    const json& value = object.at(key);
    if (!value.is_number_integer() || value.get<double>() < static_cast<double>(least) ||
        value.get<double>() > static_cast<double>(most)) {
        throw std::invalid_argument(std::string("'") + key + "' is not a whole number from " +
                                    std::to_string(least) + " to " + std::to_string(most));
    }
    return value.get<std::int64_t>();
}

/// A list of ranks, written as lists of CPUs are.
std::vector<int> read_members(const std::string& text, int ranks) {
    auto members = comm::parse_cpu_list(text, ranks);
    if (!members || members->empty()) {
        throw std::invalid_argument("'members' is no list of some of " + std::to_string(ranks) +
                                    " ranks, such as \"0-3,8\"");
    }
    return std::move(*members);
}

constexpr std::int64_t largest_message = std::int64_t{1} << 30;

Case read_pattern(const json& entry, int ranks, std::vector<int> members) {
    const auto& pattern = core::patterns::named(entry.at("pattern").get_ref<const std::string&>());
    const std::string name(pattern.name);
    if (entry.contains("collective"))
        throw std::invalid_argument("a case names both a collective and the pattern '" + name + "'");
    if (ranks < core::patterns::fewest_ranks)
        throw std::invalid_argument("the pattern '" + name + "' needs " +
                                    std::to_string(core::patterns::fewest_ranks) + " ranks");
    auto recipes = entry.at("recipes").get<std::vector<std::string>>();
    if (recipes.size() != 1 || recipes.front() != core::compose::native_name)
        throw std::invalid_argument("the pattern '" + name + "' has no recipe but 'native'");
    const int root = static_cast<int>(integer(entry, "root", 0, pattern.rooted ? ranks - 1 : 0));
    const std::int64_t largest = largest_message / core::patterns::most_incoming(pattern, ranks, root);
    const std::int64_t bytes = integer(entry, "bytes", 0, largest);
    return {.pattern = &pattern,
            .bytes = bytes,
            .root = root,
            .members = std::move(members),
            .recipes = std::move(recipes),
            .window = core::patterns::window(pattern, ranks, root, bytes),
            .moved_bytes = pattern.messages(ranks) * bytes};
}

/// A number of seconds that a call or what a rank computes may take.
double seconds(const json& object, const char* key) {
    constexpr double most = 3600;
    const json& value = object.at(key);
    if (!value.is_number() || value.get<double>() < 0 || value.get<double>() > most)
        throw std::invalid_argument(std::string("'") + key + "' is not a number of seconds from 0 to 3600");
    return value.get<double>();
}

Loop read_loop(const json& entry, const core::collectives::Collective& collective, int ranks) {
    constexpr std::int64_t most_calls = 100'000;
    Loop loop{.name = entry.at("name").get<std::string>(),
              .iterations = static_cast<int>(integer(entry, "iterations", 1, most_calls)),
              .calls = static_cast<int>(integer(entry, "calls", 1, most_calls)),
              .compute_s = seconds(entry, "compute_s"),
              .root_step = static_cast<int>(integer(entry, "root_step", 0, ranks - 1))};
    // A rank's operands are made once, so they must be the same whoever is the root.
    const bool alike = collective.rooted && collective.has_output(false) && !collective.has_input(true);
    if (loop.root_step > 0 && !alike)
        throw std::invalid_argument("the root of '" + std::string(collective.name) +
                                    "' cannot move in a loop");
    return loop;
}

/// What is known of the recipes' times.
std::map<std::string, double> read_expected(const json& entry) {
    std::map<std::string, double> result;
    const auto told = entry.find("expected_s");
    if (told == entry.end()) return result;
    for (const auto& [recipe, ignored] : told->items()) result[recipe] = seconds(*told, recipe.c_str());
    return result;
}

/// `common` is the collective of cases that name none.
Case read_case(const json& entry, const json* common, int ranks) {
    std::vector<int> members;
    if (const auto some = entry.find("members"); some != entry.end()) {
        members = read_members(some->get_ref<const std::string&>(), ranks);
        ranks = static_cast<int>(members.size());
    }
    if (entry.contains("pattern")) return read_pattern(entry, ranks, std::move(members));
    const auto own = entry.find("collective");
    if (own == entry.end() && common == nullptr) throw std::invalid_argument("a case names no collective");
    const json& name = own == entry.end() ? *common : *own;
    const auto& collective = core::collectives::named(name.get_ref<const std::string&>());
    const std::int64_t largest = collective.has_blocks() ? largest_message / ranks : largest_message;
    std::optional<Loop> loop;
    if (const auto told = entry.find("loop"); told != entry.end()) loop = read_loop(*told, collective, ranks);
    return {.collective = &collective,
            .loop = std::move(loop),
            .bytes = integer(entry, "bytes", 0, collective.has_data ? largest : 0),
            .root = static_cast<int>(integer(entry, "root", 0, collective.rooted ? ranks - 1 : 0)),
            .members = std::move(members),
            .recipes = entry.at("recipes").get<std::vector<std::string>>(),
            .expected_s = read_expected(entry)};
}

/// A limit; where there is none, what no number reaches.
double limit(const json& object, const char* key, double least = 0) {
    const auto value = object.find(key);
    if (value == object.end() || value->is_null()) return std::numeric_limits<double>::infinity();
    if (!value->is_number() || value->get<double>() < least)
        throw std::invalid_argument(std::string("'") + key + "' is not a number from " +
                                    std::to_string(static_cast<int>(least)));
    return value->get<double>();
}

}  // namespace

Work parse_work(std::string_view text, int ranks) {
    try {
        const json document = json::parse(text);
        if (document.at("isochrone") != "work") throw std::invalid_argument("it is not a work file");
        if (document.at("schema_version") != 1)
            throw std::invalid_argument("it is of another schema version");
        Work work;
        if (const auto wanted = document.find("ranks"); wanted != document.end() && !wanted->is_null()) {
            work.ranks = static_cast<int>(integer(document, "ranks", 1, 1 << 24));
            if (work.ranks != ranks) {
                throw std::invalid_argument("the work is for " + std::to_string(work.ranks) + " ranks, and " +
                                            std::to_string(ranks) + " were started");
            }
        }
        work.repetitions = static_cast<int>(integer(document, "repetitions", 1, 1'000'000));
        work.seed = static_cast<std::uint64_t>(integer(document, "seed", 0, std::int64_t{1} << 53));
        work.least_repetitions =
            static_cast<int>(integer(document, "least_repetitions", 1, work.repetitions));
        work.rival_repetitions =
            static_cast<int>(integer(document, "rival_repetitions", 0, work.repetitions));
        work.patience_s = limit(document, "patience_s");
        work.budget_s = limit(document, "budget_s");
        work.drop = limit(document, "drop", 1);
        if (const auto fabric = document.find("fabric"); fabric != document.end() && !fabric->is_null())
            work.fabric = fabric->get<std::string>();
        const auto common = document.find("collective");
        for (const json& entry : document.at("cases")) {
            work.cases.push_back(read_case(entry, common == document.end() ? nullptr : &*common, ranks));
        }
        return work;
    } catch (const json::exception& error) {
        throw std::invalid_argument(error.what());
    }
}

}  // namespace isochrone::mpi::bench
