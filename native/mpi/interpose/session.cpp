// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/session.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <numeric>
#include <stdexcept>

#include "comm/check.hpp"
#include "interpose/compare.hpp"
#include "interpose/environment.hpp"
#include "interpose/runtime.hpp"
#include "select/fit.hpp"

namespace isochrone::mpi::interpose {

using comm::check;
using executor::Dispatcher;

/// Why the plan does not hold, or nothing.
std::string Session::take_plan(const Agreement& agreement) {
    try {
        plan_ = core::select::parse_plan(agreement.plan);
        auto topology = core::topology::parse(agreement.topology);
        check_belongs(plan_, topology);
        core::select::use_names_of(plan_, topology);
        std::vector<core::topology::Place> ranks;
        for (const auto& place : agreement.places) ranks.push_back({place.host, place.cpus, place.signature});
        world_ = core::place::match(topology, ranks);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return {};
}

std::unique_ptr<Session> Session::open() {
    if (comm::size_of(MPI_COMM_WORLD) == 1) return nullptr;
    std::unique_ptr<Session> session(new Session());
    session->rank_ = comm::rank_in(MPI_COMM_WORLD);
    const auto agreement = agree([&](const Agreement& proposed) { return session->take_plan(proposed); });
    if (!agreement) return nullptr;
    // From here on all ranks know the same and come to the same end.
    if (session->rank_ != 0) session->take_plan(*agreement);
    session->explain_ = agreement->explain;
    session->check_ = agreement->check;
    session->threads_ = agreement->threads;
    // Programs whose groups have as many ranks as the plan has are improved all the same, so we go on.
    if (session->rank_ == 0) {
        const auto misfit = core::select::misfit(session->plan_, session->world_);
        if (!misfit.empty()) std::fprintf(stderr, "isochrone: %s\n", misfit.c_str());
    }
    session->make_communicators();
    return session;
}

void Session::make_communicators() {
    // A split runs no attribute copy functions of the program's, as a duplicate would.
    check(PMPI_Comm_split(MPI_COMM_WORLD, 0, rank_, &comm_), "MPI_Comm_split");
    comm::return_errors(comm_);
    check(PMPI_Comm_group(MPI_COMM_WORLD, &world_group_), "MPI_Comm_group");
    types_ = std::make_unique<Types>();
    lanes_ = std::make_unique<Lanes>(threads_);
    groups_ = std::make_unique<executor::Groups>(comm_, world_);
    for (const auto& rule : plan_.rules) {
        if (rule.recipe.parts.empty() || rule.recipe.parts.back().algorithm != core::compose::native_name)
            continue;
        const int level = world_.level(rule.recipe.parts.back().level);
        if (level >= 0) groups_->make(level);
    }
    check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key_, this), "MPI_Comm_create_keyval");
}

std::string Session::in_words(const Counts& counts) {
    const std::string own = " by the MPI library's own ";
    std::string result = "broadcasts on rank 0: " + std::to_string(counts.recipes) +
                         " by the plan's recipes, " + std::to_string(counts.planned_native) + own +
                         "as the plan says, " + std::to_string(counts.not_measured) + own +
                         "as nothing was measured";
    if (counts.refused > 0) {
        result += ", " + std::to_string(counts.refused) + own + "as the recipe cannot run here";
    }
    return result;
}

Session::~Session() {
    if (explain_ && rank_ == 0) std::fprintf(stderr, "isochrone: %s\n", in_words(counts_).c_str());
    for (Handle* handle : handles_) delete handle;
}

Session::Done Session::bcast(void* buffer, std::int64_t count, MPI_Datatype type, int root, MPI_Comm comm) {
    // What is wrong is for the library to find.
    if (comm == MPI_COMM_NULL) return {};
    Handle& handle = handle_of(comm);
    if (!handle.dispatcher) return {};
    const bool has_root = root >= 0 && root < handle.size;
    if (!check_ && (!has_root || (!explain_ && !handle.dispatcher->has_recipes(root)))) return {};
    const Type* about = count > 0 && type != MPI_DATATYPE_NULL ? types_->find(buffer, count, type) : nullptr;
    std::int64_t bytes = 0;
    if (about != nullptr && __builtin_mul_overflow(about->size, count, &bytes)) return {};
    if (check_) {
        const Asked asked{.bytes = about != nullptr || count == 0 ? bytes : Asked::invalid, .root = root};
        const std::string difference = compare(asked, comm, handle.size);
        if (!difference.empty()) {
            if (handle.rank == 0) std::fprintf(stderr, "isochrone: %s\n", difference.c_str());
            PMPI_Comm_call_errhandler(comm, MPI_ERR_ARG);
            return {true, MPI_ERR_ARG};
        }
    }
    if (bytes == 0 || !has_root) return {};
    const auto& decision = handle.dispatcher->decide_bcast(root, bytes);
    this->count(handle, decision, bytes, root);
    if (decision.resolved == nullptr) return {};
    const bool is_root = handle.rank == root;
    Packed packed(buffer, count, type, *about, types_->self(), is_root);
    try {
        handle.dispatcher->bcast(decision, packed.data(), bytes, root);
    } catch (...) {
        packed.abandon();
        throw;
    }
    if (!is_root) packed.unpack();
    return {true, MPI_SUCCESS};
}

/// When a communicator is freed, or MPI ends. Then the session may be gone already, with all that was kept.
int Session::forget(MPI_Comm /*comm*/, int /*key*/, void* value, void* extra) {
    auto* const session = static_cast<Session*>(extra);
    if (!is_open(session)) return MPI_SUCCESS;
    const std::unique_ptr<Handle> handle(static_cast<Handle*>(value));
    session->lanes_->give_back(handle->lane);
    const std::lock_guard lock(session->mutex_);
    session->handles_.erase(handle.get());
    return MPI_SUCCESS;
}

Session::Handle& Session::handle_of(MPI_Comm comm) {
    void* value = nullptr;
    int found = 0;
    check(PMPI_Comm_get_attr(comm, key_, static_cast<void*>(&value), &found), "MPI_Comm_get_attr");
    if (found != 0) return *static_cast<Handle*>(value);
    auto handle = make_handle(comm);
    check(PMPI_Comm_set_attr(comm, key_, handle.get()), "MPI_Comm_set_attr");
    const std::lock_guard lock(mutex_);
    return **handles_.insert(handle.release()).first;
}

std::unique_ptr<Session::Handle> Session::make_handle(MPI_Comm comm) {
    auto handle = std::make_unique<Handle>();
    int is_inter = 0;
    check(PMPI_Comm_test_inter(comm, &is_inter), "MPI_Comm_test_inter");
    if (is_inter != 0) return handle;
    const int size = comm::size_of(comm);
    handle->size = size;
    handle->rank = comm::rank_in(comm);
    if (size == 1) return handle;
    MPI_Group group = MPI_GROUP_NULL;
    check(PMPI_Comm_group(comm, &group), "MPI_Comm_group");
    std::vector<int> here(static_cast<std::size_t>(size));
    std::iota(here.begin(), here.end(), 0);
    std::vector<int> in_world(here.size());
    const int code = PMPI_Group_translate_ranks(group, size, here.data(), world_group_, in_world.data());
    PMPI_Group_free(&group);
    check(code, "MPI_Group_translate_ranks");
    // Ranks of another world (spawned, or connected) have no known place. Each side misses the other's, so
    // all agree.
    if (std::find(in_world.begin(), in_world.end(), MPI_UNDEFINED) != in_world.end()) return handle;
    auto layout = world_.restricted_to(in_world);
    handle->dispatcher = std::make_unique<Dispatcher>(
        std::move(layout), plan_, [this, comm, &handle = *handle, in_world = std::move(in_world)]() mutable {
            return open_lane(comm, handle, std::move(in_world));
        });
    return handle;
}

Dispatcher::Opened Session::open_lane(MPI_Comm comm, Handle& handle, std::vector<int> in_world) {
    handle.lane = lanes_->take(comm, !gpu_runtime_is_loaded());
    if (handle.lane == Lanes::none)
        return {nullptr, "no tags are left for its messages, or memory may be a GPU's"};
    executor::Lane lane{.comm = comm_,
                        .ranks = std::move(in_world),
                        .first_tag = lanes_->first_tag(handle.lane),
                        .tags = lanes_->tags()};
    // Collectives of the library's own may be on one communicator only one at a time.
    const bool may_use_groups = !threads_ || comm == MPI_COMM_WORLD;
    return {
        std::make_unique<executor::Communicator>(handle.rank, handle.dispatcher->layout(), std::move(lane),
                                                 may_use_groups ? groups_.get() : nullptr),
        ""};
}

void Session::count(Handle& handle, const Dispatcher::Decision& decision, std::int64_t bytes, int root) {
    const bool first = explain_ && handle.rank == 0 && handle.explained.insert(&decision).second;
    if (explain_) {
        const std::lock_guard lock(mutex_);
        if (decision.resolved != nullptr) {
            ++counts_.recipes;
        } else if (decision.rule == nullptr) {
            ++counts_.not_measured;
        } else if (decision.rule->recipe.kind == core::compose::Recipe::Kind::native) {
            ++counts_.planned_native;
        } else {
            ++counts_.refused;
        }
    }
    if (!first) return;
    const std::string recipe =
        decision.resolved != nullptr ? core::compose::to_text(decision.resolved->recipe) : "native";
    std::fprintf(stderr, "isochrone: bcast of %" PRId64 " bytes from rank %d: %s: %s\n", bytes, root,
                 recipe.c_str(), decision.reason.c_str());
}

}  // namespace isochrone::mpi::interpose
