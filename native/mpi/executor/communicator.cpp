// SPDX-License-Identifier: BSD-3-Clause
#include "executor/communicator.hpp"

#include <stdexcept>

#include "comm/check.hpp"
#include "place/window.hpp"

namespace isochrone::mpi::executor {

using comm::check;
using core::compose::Recipe;
using core::compose::Resolved;

Communicator::Communicator(MPI_Comm comm, core::place::Layout layout) : layout_(std::move(layout)) {
    check(PMPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
    check(PMPI_Comm_split(comm, 0, rank_, &comm_), "MPI_Comm_split");
    check(PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    int* largest = nullptr;
    int found = 0;
    check(PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&largest), &found),
          "MPI_Comm_get_attr");
    if (found != 0) largest_tag_ = *largest;
}

Communicator::~Communicator() {
    for (auto& [level, group] : groups_) PMPI_Comm_free(&group);
    if (comm_ != MPI_COMM_NULL) PMPI_Comm_free(&comm_);
}

void Communicator::abandon() {
    groups_.clear();
    comm_ = MPI_COMM_NULL;
}

MPI_Comm Communicator::group(int level) {
    const auto [entry, is_new] = groups_.try_emplace(level, MPI_COMM_NULL);
    if (is_new) {
        const int color = layout_.group_of[static_cast<std::size_t>(level)][static_cast<std::size_t>(rank_)];
        check(PMPI_Comm_split(comm_, color, rank_, &entry->second), "MPI_Comm_split");
        check(PMPI_Comm_set_errhandler(entry->second, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
        // A library sets up much of a communicator in its first collective: here, and not in somebody's
        // broadcast.
        char nothing = 0;
        check(PMPI_Bcast(&nothing, 1, MPI_CHAR, 0, entry->second), "MPI_Bcast");
    }
    return entry->second;
}

int Communicator::next_tag() {
    tag_ = tag_ == largest_tag_ ? 0 : tag_ + 1;
    return tag_;
}

int Communicator::window(std::int64_t segment_bytes) {
    const auto [entry, is_new] = windows_.try_emplace(segment_bytes);
    if (is_new) entry->second = core::place::window(layout_, segment_bytes);
    return entry->second;
}

const Resolved& Communicator::resolve_bcast(const Recipe& recipe) {
    const std::string text = core::compose::to_text(recipe);
    const auto found = resolved_.find(text);
    if (found != resolved_.end()) return found->second;
    return resolved_.emplace(text, core::compose::resolve_bcast(recipe, layout_)).first->second;
}

const core::schedule::Schedule& Communicator::prepare_bcast(const Resolved& resolved, int root) {
    if (resolved.recipe.kind == Recipe::Kind::native) throw std::logic_error("native needs no executor");
    const auto [entry, is_new] = schedules_.try_emplace({&resolved, root});
    if (is_new) {
        entry->second = core::compose::bcast(resolved, layout_, rank_, root);
        // Splitting is collective over all ranks, also those whose own schedule needs no group.
        if (resolved.recipe.parts.back().algorithm == core::compose::native_name)
            group(resolved.levels.back());
    }
    return entry->second;
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
    const Stage stage{.comm = comm_,
                      .tag = next_tag(),
                      .window = window(extents.segment * buffers.unit_bytes),
                      .group = [this](int level) { return group(level); }};
    executor::run(schedule, extents, buffers, stage, scratch_);
}

}  // namespace isochrone::mpi::executor
