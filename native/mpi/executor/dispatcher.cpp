// SPDX-License-Identifier: BSD-3-Clause
#include "executor/dispatcher.hpp"

#include <algorithm>

#include "schedule/progress.hpp"
#include "select/choose.hpp"

namespace isochrone::mpi::executor {

using core::compose::Recipe;
using core::select::Rule;

Dispatcher::Dispatcher(core::place::Layout layout, const core::select::Plan& plan, Open open)
    : layout_(std::move(layout)), plan_(plan), open_(std::move(open)) {
    too_many_segments_.reason = "the message has more segments than can be counted";
    failed_.reason = "a recipe has failed on this communicator";
}

Dispatcher::Root& Dispatcher::root_of(int root) {
    const auto found = roots_.find(root);
    if (found != roots_.end()) return found->second;
    Root made;
    made.shape = core::place::shape(layout_, root);
    made.has_recipes = std::any_of(plan_.rules.begin(), plan_.rules.end(), [&](const Rule& rule) {
        return rule.recipe.kind != Recipe::Kind::native && rule.collective == "bcast" &&
               rule.shape == made.shape;
    });
    return roots_.emplace(root, std::move(made)).first->second;
}

bool Dispatcher::has_recipes(int root) { return root_of(root).has_recipes; }

const Dispatcher::Decision& Dispatcher::decide_bcast(int root, std::int64_t bytes) {
    if (has_failed_) return failed_;
    Root& here = root_of(root);
    const Rule* rule = core::select::find_rule(plan_, "bcast", here.shape, bytes);
    auto found = here.by_rule.find(rule);
    if (found == here.by_rule.end()) {
        Decision decision = make_decision(root, bytes);
        decision.rule = rule;
        found = here.by_rule.emplace(rule, std::move(decision)).first;
    }
    const Decision& decision = found->second;
    if (decision.resolved == nullptr) return decision;
    const std::int64_t segment = decision.resolved->recipe.segment_bytes;
    if (segment > 0 && (bytes - 1) / segment >= core::schedule::largest_segment_count) {
        too_many_segments_.rule = rule;
        return too_many_segments_;
    }
    return decision;
}

Dispatcher::Decision Dispatcher::make_decision(int root, std::int64_t bytes) {
    const auto choice = core::select::choose(plan_, layout_, root, bytes);
    if (choice.recipe.kind == Recipe::Kind::native) return {nullptr, choice.reason};
    if (!communicator_ && refusal_.empty()) {
        auto opened = open_();
        communicator_ = std::move(opened.communicator);
        refusal_ = std::move(opened.refusal);
    }
    if (!communicator_) return {nullptr, refusal_};
    const auto& resolved = communicator_->resolve_bcast(choice.recipe);
    if (!communicator_->has_groups_for(resolved)) {
        return {nullptr, "its groups have no communicators for the library's own inside them"};
    }
    communicator_->prepare_bcast(resolved, root);
    return {&resolved, choice.reason};
}

void Dispatcher::bcast(const Decision& decision, void* data, std::int64_t bytes, int root) {
    try {
        communicator_->bcast(*decision.resolved, data, bytes, root);
    } catch (...) {
        has_failed_ = true;
        communicator_->abandon_scratch();
        throw;
    }
}

}  // namespace isochrone::mpi::executor
