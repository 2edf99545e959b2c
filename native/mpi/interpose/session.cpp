// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/session.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <stdexcept>

#include "comm/check.hpp"
#include "comm/place.hpp"
#include "interpose/datatype.hpp"
#include "interpose/environment.hpp"
#include "select/fit.hpp"

namespace isochrone::mpi::interpose {

using comm::check;
using executor::Dispatcher;

std::unique_ptr<Session> Session::open() {
    const int rank = comm::rank_in(MPI_COMM_WORLD);
    const Inputs inputs = read_inputs(MPI_COMM_WORLD);
    std::string complaint = inputs.complaint;
    // From here on all ranks know the same and come to the same end.
    const auto places = comm::gather_places(MPI_COMM_WORLD);
    std::unique_ptr<Session> session(new Session());
    if (complaint.empty() && !inputs.plan.empty()) {
        try {
            session->plan_ = core::select::parse_plan(inputs.plan);
            auto topology = core::topology::parse(inputs.topology);
            check_belongs(session->plan_, topology);
            core::select::use_names_of(session->plan_, topology);
            std::vector<core::topology::Place> ranks;
            for (const auto& place : places) ranks.push_back({place.host, place.cpus, place.signature});
            session->world_ = core::place::match(topology, ranks);
        } catch (const std::invalid_argument& error) {
            complaint = error.what();
        }
    }
    if (!complaint.empty() && rank == 0) {
        std::fprintf(stderr, "isochrone: %s: the MPI library's own collectives run\n", complaint.c_str());
    }
    if (!complaint.empty() || inputs.plan.empty()) return nullptr;
    // Programs whose groups have as many ranks as the plan has are improved all the same, so we go on.
    if (rank == 0) {
        const auto misfit = core::select::misfit(session->plan_, session->world_);
        if (!misfit.empty()) std::fprintf(stderr, "isochrone: %s\n", misfit.c_str());
    }
    session->explain_ = inputs.explain;
    check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &session->key_, nullptr),
          "MPI_Comm_create_keyval");
    return session;
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
    if (explain_ && comm::rank_in(MPI_COMM_WORLD) == 0) {
        std::fprintf(stderr, "isochrone: %s\n", in_words(counts_).c_str());
    }
    // Freeing a communicator is collective, and at the end of the program ranks need not have the same ones
    // left.
    for (const auto& handle : handles_) {
        if (handle && handle->dispatcher) handle->dispatcher->abandon();
    }
    if (key_ != MPI_KEYVAL_INVALID) PMPI_Comm_free_keyval(&key_);
}

bool Session::bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    // What is wrong is for the library to find.
    if (comm == MPI_COMM_NULL || type == MPI_DATATYPE_NULL || count <= 0 || root < 0) return false;
    Handle& handle = handle_of(comm);
    if (!handle.dispatcher || root >= handle.size) return false;
    const std::int64_t bytes = data_bytes(count, type);
    if (bytes == 0) return false;
    const auto& decision = handle.dispatcher->decide_bcast(root, bytes);
    this->count(handle, decision, bytes, root);
    if (decision.resolved == nullptr) return false;
    const bool is_root = handle.rank == root;
    Packed packed(buffer, count, type, comm, is_root);
    handle.dispatcher->bcast(decision, packed.data(), bytes, root);
    if (!is_root) packed.unpack();
    return true;
}

void Session::forget(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) return;
    void* value = nullptr;
    int found = 0;
    check(PMPI_Comm_get_attr(comm, key_, static_cast<void*>(&value), &found), "MPI_Comm_get_attr");
    if (found == 0) return;
    check(PMPI_Comm_delete_attr(comm, key_), "MPI_Comm_delete_attr");
    std::unique_ptr<Handle> last;  // its end is collective, so not under the lock
    const std::lock_guard lock(mutex_);
    const auto entry = std::find_if(handles_.begin(), handles_.end(),
                                    [&](const auto& handle) { return handle.get() == value; });
    if (entry == handles_.end()) return;
    last = std::move(*entry);
    handles_.erase(entry);
}

Session::Handle& Session::handle_of(MPI_Comm comm) {
    void* value = nullptr;
    int found = 0;
    check(PMPI_Comm_get_attr(comm, key_, static_cast<void*>(&value), &found), "MPI_Comm_get_attr");
    if (found != 0) return *static_cast<Handle*>(value);
    auto handle = make_handle(comm);
    Handle& result = *handle;
    check(PMPI_Comm_set_attr(comm, key_, handle.get()), "MPI_Comm_set_attr");
    const std::lock_guard lock(mutex_);
    handles_.push_back(std::move(handle));
    return result;
}

std::unique_ptr<Session::Handle> Session::make_handle(MPI_Comm comm) const {
    auto handle = std::make_unique<Handle>();
    int is_inter = 0;
    check(PMPI_Comm_test_inter(comm, &is_inter), "MPI_Comm_test_inter");
    if (is_inter != 0) return handle;
    const int size = comm::size_of(comm);
    handle->size = size;
    handle->rank = comm::rank_in(comm);
    if (size == 1) return handle;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group world = MPI_GROUP_NULL;
    check(PMPI_Comm_group(comm, &group), "MPI_Comm_group");
    check(PMPI_Comm_group(MPI_COMM_WORLD, &world), "MPI_Comm_group");
    std::vector<int> here(static_cast<std::size_t>(size));
    std::iota(here.begin(), here.end(), 0);
    std::vector<int> in_world(here.size());
    check(PMPI_Group_translate_ranks(group, size, here.data(), world, in_world.data()),
          "MPI_Group_translate_ranks");
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    // Ranks of another world (spawned, or connected) have no known place. Each side misses the other's, so
    // all agree.
    if (std::find(in_world.begin(), in_world.end(), MPI_UNDEFINED) != in_world.end()) return handle;
    handle->dispatcher = std::make_unique<Dispatcher>(comm, world_.restricted_to(in_world), plan_,
                                                      [] { return !gpu_runtime_is_loaded(); });
    return handle;
}

void Session::count(Handle& handle, const Dispatcher::Decision& decision, std::int64_t bytes, int root) {
    const bool first = handle.explained.insert(&decision).second;
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
    if (!first || !explain_ || handle.rank != 0) return;
    const std::string recipe =
        decision.resolved != nullptr ? core::compose::to_text(decision.resolved->recipe) : "native";
    std::fprintf(stderr, "isochrone: bcast of %" PRId64 " bytes from rank %d: %s: %s\n", bytes, root,
                 recipe.c_str(), decision.reason.c_str());
}

}  // namespace isochrone::mpi::interpose
