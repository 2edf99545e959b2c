// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/account.hpp"

#include <cstdio>
#include <utility>

namespace isochrone::mpi::interpose {

using core::select::Basis;
using core::select::LeftOut;
using executor::Dispatcher;

void Account::count(const Dispatcher::Decision& decision, const Request& request) {
    const std::lock_guard lock(mutex_);
    Counts& counts = counts_[request.question.collective];
    if (decision.resolved != nullptr) {
        ++(decision.basis == Basis::predicted || (decision.basis == Basis::live && decision.rule == nullptr)
               ? counts.tried
               : counts.recipes);
    } else if (decision.basis == Basis::live && decision.rule == nullptr) {
        ++counts.checked;
    } else if (decision.basis == Basis::interpolated) {
        ++counts.planned_native;
    } else if (decision.rule == nullptr || decision.rule->left_out == LeftOut::as_live) {
        ++counts.not_measured;
    } else if (decision.rule->left_out == LeftOut::by_user) {
        ++counts.left_out;
    } else if (decision.rule->recipe.kind == core::compose::Recipe::Kind::native) {
        ++counts.planned_native;
    } else {
        ++counts.refused;
    }
}

void Account::note(const executor::Live::Kind& kind, executor::Live::Event event, const std::string& order,
                   bool learns, bool speaks) {
    using Event = executor::Live::Event;
    const std::lock_guard lock(mutex_);
    if (event == Event::begun) {
        ++trying_.begun;
        return;
    }
    if (learns) learned_.note(kind, order);
    if (event == Event::nothing_is_left) return;
    ++(event == Event::recipe_is_kept ? trying_.recipes : trying_.natives);
    const bool is_wrong = kind.planned->basis == Basis::measured && event == Event::native_is_kept;
    if (!is_wrong || !speaks || std::exchange(has_said_that_machine_differs_, true)) return;
    std::fprintf(
        stderr,
        "isochrone: the machine differs from what was surveyed: %s of about %lld bytes: %s; this and "
        "the like run so from now on, and a new survey would say more\n",
        std::string(kind.question.collective->name).c_str(), static_cast<long long>(kind.bytes),
        kind.incumbent->reason.c_str());
}

std::string Account::in_words(const core::collectives::Collective& collective, const Counts& counts) {
    const std::string own = " by the MPI library's own ";
    std::string result = std::string(collective.words) + "s on rank 0: " + std::to_string(counts.recipes) +
                         " by the plan's recipes, " + std::to_string(counts.planned_native) + own +
                         "as the plan says, " + std::to_string(counts.not_measured) + own +
                         "as nothing was measured";
    if (counts.left_out > 0) {
        result += ", " + std::to_string(counts.left_out) + own + "as ISOCHRONE_ONLY leaves them out";
    }
    if (counts.tried > 0)
        result += ", " + std::to_string(counts.tried) + " by recipes on trial or found live";
    if (counts.checked > 0) result += ", " + std::to_string(counts.checked) + own + "on trial or found live";
    if (counts.refused > 0) {
        result += ", " + std::to_string(counts.refused) + own + "as the recipe cannot run here";
    }
    return result;
}

void Account::say_counts() const {
    for (const auto& collective : core::collectives::all()) {
        const auto found = counts_.find(&collective);
        if (found == counts_.end()) continue;
        std::fprintf(stderr, "isochrone: %s\n", in_words(collective, found->second).c_str());
    }
    if (counts_.empty())
        std::fprintf(stderr, "isochrone: rank 0 has called no collective that a plan can be for\n");
}

void Account::say_trials() const {
    const auto ended = trying_.recipes + trying_.natives;
    if (trying_.begun + ended == 0) return;
    std::fprintf(
        stderr,
        "isochrone: live trials on rank 0: %llu of recipes that the model found; %llu times a recipe "
        "was kept, %llu times the MPI library's own\n",
        static_cast<unsigned long long>(trying_.begun), static_cast<unsigned long long>(trying_.recipes),
        static_cast<unsigned long long>(trying_.natives));
}

void say_that_none_is_tried(const executor::Live::Kind& kind) {
    std::fprintf(
        stderr,
        "isochrone: %s of about %lld bytes: nothing is tried for %s: the model finds nothing that may "
        "be faster\n",
        std::string(kind.question.collective->name).c_str(), static_cast<long long>(kind.bytes),
        kind.shape.c_str());
}

void say_decision(const Dispatcher::Decision& decision, const Request& request) {
    const auto& collective = *request.question.collective;
    std::string what(collective.name);
    if (collective.has_data && collective.agreed != core::collectives::Agreed::nothing)
        what += " of " + std::to_string(request.bytes) + " bytes";
    if (collective.rooted) {
        const bool is_to_root =
            collective.reduces || collective.output == core::collectives::Holds::all_blocks;
        what += (is_to_root ? " to rank " : " from rank ") + std::to_string(request.question.root);
    }
    const std::string recipe =
        decision.resolved != nullptr ? core::compose::to_text(decision.resolved->recipe) : "native";
    std::fprintf(stderr, "isochrone: %s: %s: %s\n", what.c_str(), recipe.c_str(), decision.reason.c_str());
}

}  // namespace isochrone::mpi::interpose
