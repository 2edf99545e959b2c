// SPDX-License-Identifier: BSD-3-Clause
#include "executor/dispatcher.hpp"

#include <algorithm>

#include "schedule/progress.hpp"
#include "select/choose.hpp"

namespace isochrone::mpi::executor {

using core::compose::Recipe;
using core::select::Rule;

Dispatcher::Dispatcher(core::place::Layout layout, const core::select::Plan& plan, Open open,
                       const core::select::Plan* surveyed)
    : layout_(std::move(layout)),
      order_(core::place::order(layout_)),
      plan_(plan),
      surveyed_(surveyed == nullptr ? plan : *surveyed),
      open_(std::move(open)) {
    too_many_segments_.reason = "the message has more segments than can be counted";
    stopped_.reason = "a recipe has failed on this communicator";
}

bool Dispatcher::has_recipes(const core::collectives::Collective& collective) {
    const auto [known, is_new] = has_recipes_.try_emplace(&collective, true);
    if (is_new && !core::select::has_one_order(plan_, collective)) {
        const auto rules = core::select::rules_for(plan_, collective.name);
        known->second = std::any_of(rules.begin(), rules.end(), [](const Rule& rule) {
            return rule.recipe.kind != Recipe::Kind::native || rule.surveyed;
        });
    }
    return known->second;
}

const Dispatcher::Decision& Dispatcher::decide(const Question& question, std::int64_t bytes) {
    auto& known = known_[question];
    const std::int64_t size = question.collective->agreed_bytes(bytes);
    auto found = std::find_if(known.begin(), known.end(), [&](const Decision& one) {
        return one.min_bytes <= size && size <= one.max_bytes;
    });
    if (found == known.end()) found = known.insert(known.end(), make_decision(question, bytes));
    const Decision& decision = *found;
    if (decision.resolved == nullptr) return decision;
    if (!has_too_many_segments(question, decision.resolved->recipe, bytes)) return decision;
    too_many_segments_.rule = decision.rule;
    return too_many_segments_;
}

bool Dispatcher::has_too_many_segments(const Question& question, const Recipe& recipe,
                                       std::int64_t bytes) const {
    const std::int64_t segment = recipe.segment_bytes;
    const std::int64_t message = question.collective->has_blocks() ? bytes * layout_.size : bytes;
    // A segment is rounded to whole elements, at worst to one that is just more than half as long.
    return segment > 0 && (message - 1) / segment >= core::schedule::largest_segment_count / 2;
}

Dispatcher::Decision Dispatcher::make_decision(const Question& question, std::int64_t bytes) {
    auto choice = core::select::choose(question.as_surveyed ? surveyed_ : plan_, *question.collective,
                                       layout_, question.root, bytes, question.in_order);
    const bool is_native = choice.recipe.kind == Recipe::Kind::native;
    Decision decision;
    if (!is_native) decision = decide_on(question, choice.recipe, 0);  // segments are counted call by call
    if (is_native || decision.resolved != nullptr) {
        decision.reason = std::move(choice.reason);
        decision.basis = choice.basis;
        decision.speedup = choice.speedup;
    }
    decision.rule = choice.rule;
    decision.min_bytes = choice.min_bytes;
    decision.max_bytes = choice.max_bytes;
    return decision;
}

Dispatcher::Decision Dispatcher::decide_on(const Question& question, const Recipe& recipe,
                                           std::int64_t bytes) {
    if (has_too_many_segments(question, recipe, bytes)) return too_many_segments_;
    if (!communicator_ && refusal_.empty()) {
        auto opened = open_();
        communicator_ = std::move(opened.communicator);
        refusal_ = std::move(opened.refusal);
    }
    if (!communicator_) return {.resolved = nullptr, .reason = refusal_};
    const auto& resolved = communicator_->resolve(*question.collective, recipe, question.in_order);
    if (!communicator_->has_groups_for(resolved)) {
        return {.resolved = nullptr,
                .reason = "its groups have no communicators for the library's own inside them"};
    }
    communicator_->prepare(resolved, question.root);
    return {.resolved = &resolved, .reason = ""};
}

void Dispatcher::prepare(const Decision& decision, int root, bool in_place) {
    try {
        communicator_->prepare(*decision.resolved, root, in_place);
    } catch (...) {
        has_failed_ = true;
        communicator_->skip_run();
        throw;
    }
}

void Dispatcher::run(const Decision& decision, int root, const Buffers& buffers,
                     core::schedule::Extents sizes) {
    if (has_failed_) ++runs_since_;
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
