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

Dispatcher::Answers& Dispatcher::answers_to(const Question& question) {
    const auto found = answers_.find(question);
    if (found != answers_.end()) return found->second;
    Answers made;
    if (core::select::has_one_order(plan_, *question.collective)) {
        made.has_recipes = true;
        made.decisions.resize(1);
        return answers_.emplace(question, std::move(made)).first->second;
    }
    const auto shape = core::select::shape_for(*question.collective, layout_, question.root);
    made.rules = core::select::rules_for(plan_, question.collective->name, shape);
    made.has_recipes = std::any_of(made.rules.begin(), made.rules.end(),
                                   [](const Rule& rule) { return rule.recipe.kind != Recipe::Kind::native; });
    made.decisions.resize(made.rules.size() + 1);
    return answers_.emplace(question, std::move(made)).first->second;
}

bool Dispatcher::has_recipes(const Question& question) { return answers_to(question).has_recipes; }

const Dispatcher::Decision& Dispatcher::decide(const Question& question, std::int64_t bytes) {
    if (has_failed_) return failed_;
    Answers& answers = answers_to(question);
    const Rule* rule = core::select::find_rule(answers.rules, question.collective->agreed_bytes(bytes));
    auto& known = rule != nullptr ? answers.decisions[static_cast<std::size_t>(rule - answers.rules.data())]
                                  : answers.decisions.back();
    if (!known) {
        known = make_decision(question, bytes);
        known->rule = rule;
    }
    const Decision& decision = *known;
    if (decision.resolved == nullptr) return decision;
    const std::int64_t segment = decision.resolved->recipe.segment_bytes;
    const std::int64_t message = question.collective->has_blocks() ? bytes * layout_.size : bytes;
    if (segment > 0 && (message - 1) / segment >= core::schedule::largest_segment_count) {
        too_many_segments_.rule = rule;
        return too_many_segments_;
    }
    return decision;
}

Dispatcher::Decision Dispatcher::make_decision(const Question& question, std::int64_t bytes) {
    const auto choice =
        core::select::choose(plan_, *question.collective, layout_, question.root, bytes, question.in_order);
    if (choice.recipe.kind == Recipe::Kind::native) return {nullptr, choice.reason};
    if (!communicator_ && refusal_.empty()) {
        auto opened = open_();
        communicator_ = std::move(opened.communicator);
        refusal_ = std::move(opened.refusal);
    }
    if (!communicator_) return {nullptr, refusal_};
    const auto& resolved = communicator_->resolve(*question.collective, choice.recipe, question.in_order);
    if (!communicator_->has_groups_for(resolved)) {
        return {nullptr, "its groups have no communicators for the library's own inside them"};
    }
    communicator_->prepare(resolved, question.root);
    return {&resolved, choice.reason};
}

void Dispatcher::run(const Decision& decision, int root, const Buffers& buffers,
                     core::schedule::Extents sizes) {
    try {
        communicator_->run(*decision.resolved, root, buffers, std::move(sizes));
    } catch (...) {
        has_failed_ = true;
        communicator_->abandon_scratch();
        throw;
    }
}

void Dispatcher::run(const Decision& decision, int root, const Buffers& buffers, std::int64_t units) {
    run(decision, root, buffers,
        core::schedule::Extents{
            .total = units, .counts = {}, .input_displacements = {}, .output_displacements = {}});
}

}  // namespace isochrone::mpi::executor
