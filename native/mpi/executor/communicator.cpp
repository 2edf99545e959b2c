// SPDX-License-Identifier: BSD-3-Clause
#include "executor/communicator.hpp"

#include <numeric>
#include <stdexcept>

#include "comm/check.hpp"
#include "executor/tags.hpp"
#include "place/window.hpp"

namespace isochrone::mpi::executor {

using comm::check;
using core::compose::Recipe;
using core::compose::Resolved;

namespace {

bool needs_groups(const Resolved& resolved) {
    return !resolved.recipe.parts.empty() &&
           resolved.recipe.parts.back().algorithm == core::compose::native_name;
}

}  // namespace

Communicator::Communicator(MPI_Comm comm, core::place::Layout layout)
    : layout_(std::move(layout)), rank_(comm::rank_in(comm)), owns_comm_(true) {
    // A split runs no attribute copy functions of the program's, as a duplicate would.
    check(PMPI_Comm_split(comm, 0, rank_, &lane_.comm), "MPI_Comm_split");
    comm::return_errors(lane_.comm);
    lane_.ranks.resize(static_cast<std::size_t>(layout_.size));
    std::iota(lane_.ranks.begin(), lane_.ranks.end(), 0);
    lane_.tags = largest_tag();  // one less than there are, whose number an int may not hold
    own_groups_ = std::make_unique<Groups>(lane_.comm, layout_);
    groups_ = own_groups_.get();
}

Communicator::Communicator(int rank, core::place::Layout layout, Lane lane, const Groups* groups)
    : layout_(std::move(layout)), rank_(rank), lane_(std::move(lane)), groups_(groups) {}

Communicator::~Communicator() {
    if (!owns_comm_) return;
    own_groups_->free();
    PMPI_Comm_free(&lane_.comm);
}

int Communicator::next_tag() {
    tag_ = tag_ + 1 == lane_.tags ? 0 : tag_ + 1;
    return lane_.first_tag + tag_;
}

int Communicator::window(std::int64_t segment_bytes) {
    const auto found = windows_.find(segment_bytes);
    if (found != windows_.end()) return found->second;
    return windows_.emplace(segment_bytes, core::place::window(layout_, segment_bytes)).first->second;
}

const Resolved& Communicator::resolve_bcast(const Recipe& recipe) {
    const std::string text = core::compose::to_text(recipe);
    const auto found = resolved_.find(text);
    if (found != resolved_.end()) return found->second;
    return resolved_.emplace(text, core::compose::resolve_bcast(recipe, layout_)).first->second;
}

bool Communicator::has_groups_for(const Resolved& resolved) const {
    if (owns_comm_ || !needs_groups(resolved)) return true;
    return groups_ != nullptr && groups_->hold(resolved.levels.back(), layout_, lane_.ranks);
}

const core::schedule::Schedule& Communicator::prepare_bcast(const Resolved& resolved, int root) {
    const std::pair key{&resolved, root};
    const auto found = schedules_.find(key);
    if (found != schedules_.end()) return found->second;
    if (resolved.recipe.kind == Recipe::Kind::native) throw std::logic_error("native needs no executor");
    if (!has_groups_for(resolved)) throw std::logic_error("the groups of a recipe are not there");
    auto schedule = core::compose::bcast(resolved, layout_, rank_, root);
    // Splitting is collective over all ranks, also those whose own schedule needs no group.
    if (owns_comm_ && needs_groups(resolved)) own_groups_->make(resolved.levels.back());
    return schedules_.emplace(key, std::move(schedule)).first->second;
}

void Communicator::bcast(const Resolved& resolved, void* data, std::int64_t bytes, int root) {
    const core::schedule::Extents extents{.total = bytes,
                                          .segment = resolved.recipe.segment_bytes,
                                          .counts = {},
                                          .input_displacements = {},
                                          .output_displacements = {}};
    run(prepare_bcast(resolved, root), extents, {.input = data, .output = data});
}

void Communicator::run(const core::schedule::Schedule& schedule, const core::schedule::Extents& extents,
                       const Buffers& buffers) {
    const Stage stage{.comm = lane_.comm,
                      .ranks = lane_.ranks.data(),
                      .tag = next_tag(),
                      .window = window(extents.segment * buffers.unit_bytes),
                      .groups = groups_};
    executor::run(schedule, extents, buffers, stage, scratch_);
}

void Communicator::abandon_scratch() {
    static_cast<void>(std::make_unique<Scratch>(std::move(scratch_)).release());
    scratch_ = {};
}

}  // namespace isochrone::mpi::executor
