// SPDX-License-Identifier: BSD-3-Clause
//
// Plans: which recipe runs for which collective, shape of communicator and message size. See plan.json in
// DESIGN.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compose/recipe.hpp"
#include "select/expectation.hpp"
#include "topology/topology.hpp"

namespace isochrone::core::select {

/// How it is known what to run.
enum class Basis : std::uint8_t {
    none,          ///< nothing was to be known: the user decides, or a recipe does not fit
    measured,      ///< by a survey, on this shape
    live,          ///< in a program's own calls, on this shape
    interpolated,  ///< two measured shapes around this one agree
    predicted,     ///< priced by the model, or measured in another order of ranks
};

/// Why a rule that had a recipe has none.
enum class LeftOut : std::uint8_t {
    no,
    by_user,  ///< who wants the library's own here
    as_live,  ///< it was found live, in calls of another kind
};

/// A recipe as it was measured.
struct Measured {
    compose::Recipe recipe;
    double speedup = 0;                      ///< over the library's own
    double took = 0;                         ///< of the recipe's price by the model; 0: not known
    double seconds = 0;                      ///< of a call of `bytes`, where these are known
    std::optional<std::int64_t> bytes = {};  ///< nothing: it is not known
};

struct Rule : Measured {
    std::string collective;  ///< "bcast"
    std::string shape;       ///< as place::shape writes it
    std::int64_t min_bytes = 0;
    std::int64_t max_bytes = 0;     ///< inclusive
    Basis basis = Basis::measured;  ///< or live
    std::string order = {};         ///< of ranks, as place::order writes it; empty: of any
    LeftOut left_out = LeftOut::no;
    std::optional<Measured> surveyed = {};  ///< of a reduction: what a survey says where this was found live
};

struct Plan {
    std::string topology_fingerprint;
    std::string mpi_library;
    std::string time;  ///< when it was made, as its provenance has it; empty: not known
    std::string mpi_abi;
    std::vector<std::string> level_names;  ///< that the rules use, outermost first; empty: the topology's
    /// By collective, shape, order and size, ascending; no two hold for one message.
    std::vector<Rule> rules;
    /// All reductions run in one order that depends on the number of ranks only, whatever the rules say.
    bool reproducible = false;
    MessageCost messages;  ///< as the races of its tuning have shown
};

/// Reads the text of a plan.json. Throws std::invalid_argument with one line that says what is wrong with it,
/// and in which rule: damaged, of another kind or version, a recipe that cannot be read, or two rules for one
/// message.
[[nodiscard]] Plan parse_plan(std::string_view text);

/// All rules for a collective, or, with a shape, for that; by ascending shape, order and size. Takes O(log
/// rules).
[[nodiscard]] std::span<const Rule> rules_for(const Plan& plan, std::string_view collective);
[[nodiscard]] std::span<const Rule> rules_for(const Plan& plan, std::string_view collective,
                                              std::string_view shape);

/// Of the rules for one shape those that are for an order of ranks; where there are none, those for any.
[[nodiscard]] std::span<const Rule> for_order(std::span<const Rule> rules, std::string_view order);

/// Which of the rules for one shape and order holds for a message of `size_bytes`; nullptr: none.
[[nodiscard]] const Rule* find_rule(std::span<const Rule> rules, std::int64_t size_bytes);

/// Whether a plan has rules that were found live.
[[nodiscard]] bool has_live_rules(const Plan& plan);

/// What a plan says of reductions whose result may differ in the last bit. What was found live was tried on
/// others: here what a survey says holds in its place, or the library's own.
[[nodiscard]] Plan as_surveyed(const Plan& plan);

/// Gives the levels of a plan's topology the names that the plan knows them by: they may have been renamed
/// since. Throws std::invalid_argument, in one line, if it has another number of levels.
void use_names_of(const Plan& plan, topology::Topology& topology);

}  // namespace isochrone::core::select
