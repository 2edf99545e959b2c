// SPDX-License-Identifier: BSD-3-Clause
#include "executor/communicator.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "comm/check.hpp"
#include "executor/tags.hpp"
#include "place/window.hpp"

namespace isochrone::mpi::executor {

using comm::check;
using core::compose::Recipe;
using core::compose::Resolved;

Communicator::Communicator(MPI_Comm comm, core::place::Layout layout)
    : layout_(std::move(layout)), rank_(comm::rank_in(comm)) {
    lane_.comm = comm;
    lane_.ranks.resize(static_cast<std::size_t>(layout_.size));
    std::iota(lane_.ranks.begin(), lane_.ranks.end(), 0);
    lane_.tags = largest_tag();  // one less than there are, whose number an int may not hold
    own_groups_ = std::make_unique<Groups>(comm, layout_);
    groups_ = own_groups_.get();
}

Communicator::Communicator(int rank, core::place::Layout layout, Lane lane, const Groups* groups)
    : layout_(std::move(layout)), rank_(rank), lane_(std::move(lane)), groups_(groups) {}

Communicator::~Communicator() {
    if (own_groups_) own_groups_->free();
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

const Resolved& Communicator::resolve(const core::collectives::Collective& collective, const Recipe& recipe,
                                      bool in_order) {
    std::tuple key{collective.name, core::compose::to_text(recipe), in_order};
    const auto found = resolved_.find(key);
    if (found != resolved_.end()) return found->second;
    return resolved_.emplace(std::move(key), core::compose::resolve(collective, recipe, layout_, in_order))
        .first->second;
}

bool Communicator::has_groups_for(const Resolved& resolved) const {
    if (own_groups_ || !resolved.has_library_inside()) return true;
    return groups_ != nullptr && groups_->hold(resolved.levels.back(), layout_, lane_.ranks);
}

Communicator::Prepared& Communicator::prepared(const Resolved& resolved, int root, bool in_place) {
    const std::tuple key{&resolved, root, in_place};
    const auto found = schedules_.find(key);
    if (found != schedules_.end()) return found->second;
    if (resolved.recipe.kind == Recipe::Kind::native) throw std::logic_error("native needs no executor");
    if (!has_groups_for(resolved)) throw std::logic_error("the groups of a recipe are not there");
    auto schedule = core::compose::schedule_of(resolved, layout_, rank_, root, in_place);
    // Splitting is collective over all ranks, also those whose own schedule needs no group.
    if (own_groups_ && resolved.has_library_inside()) own_groups_->make(resolved.levels.back());
    return schedules_
        .emplace(std::piecewise_construct, std::forward_as_tuple(key),
                 std::forward_as_tuple(std::move(schedule)))
        .first->second;
}

void Communicator::prepare(const Resolved& resolved, int root, bool in_place) {
    static_cast<void>(prepared(resolved, root, in_place));
}

void Communicator::run(const Resolved& resolved, int root, const Buffers& buffers,
                       core::schedule::Extents sizes) {
    const std::int64_t segment = resolved.recipe.segment_bytes;
    sizes.segment = segment > 0 ? std::max<std::int64_t>(1, segment / buffers.unit_bytes) : 0;
    const Stage stage{.comm = lane_.comm,
                      .ranks = lane_.ranks.data(),
                      .tag = next_tag(),
                      .window = window(sizes.segment * buffers.unit_bytes),
                      .groups = groups_};
    prepared(resolved, root, buffers.in_place).runner.run(sizes, buffers, stage, scratch_);
}

void Communicator::run(const Resolved& resolved, int root, const Buffers& buffers, std::int64_t units) {
    run(resolved, root, buffers,
        core::schedule::Extents{
            .total = units, .counts = {}, .input_displacements = {}, .output_displacements = {}});
}

void Communicator::abandon_scratch() {
    static_cast<void>(std::make_unique<Scratch>(std::move(scratch_)).release());
    scratch_ = {};
}

}  // namespace isochrone::mpi::executor
