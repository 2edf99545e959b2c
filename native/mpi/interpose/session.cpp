// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/session.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "comm/check.hpp"
#include "comm/world.hpp"
#include "fabric/client.hpp"
#include "interpose/compare.hpp"
#include "interpose/environment.hpp"
#include "interpose/opening.hpp"
#include "interpose/runtime.hpp"
#include "preload/word.hpp"
#include "select/fit.hpp"

namespace isochrone::mpi::interpose {

using preload::handle;

using comm::check;
using executor::Dispatcher;

namespace {

std::chrono::nanoseconds now() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace

std::unique_ptr<Session> Session::open(preload::Occasion occasion, bool is_able) {
    if (comm::size_of(MPI_COMM_WORLD) == 1) return nullptr;
    std::unique_ptr<Session> session(new Session());
    session->rank_ = comm::rank_in(MPI_COMM_WORLD);
    const auto agreement = agree(occasion, is_able, [&](Agreement& proposed) {
        std::string why_not = take_plan(proposed, session->plan_, session->world_);
        if (why_not.empty()) proposed.delays = ask_for_delays(proposed, session->plan_);
        return why_not;
    });
    if (!agreement) return nullptr;
    // From here on all ranks know the same and come to the same end.
    if (session->rank_ != 0) static_cast<void>(take_plan(*agreement, session->plan_, session->world_));
    if (!agreement->delays.empty())
        fabric::set_delays(session->world_, fabric::hosts_of(agreement->places), agreement->delays);
    if (core::select::has_live_rules(session->plan_))
        session->surveyed_ = core::select::as_surveyed(session->plan_);
    session->explain_ = agreement->explain;
    session->check_ = agreement->check;
    session->summary_ = agreement->summary;
    session->threads_ = agreement->threads;
    if (session->rank_ == 0 && !agreement->unsurveyed) session->learn_ = read_inputs().learn;
    // Who wants some recipes only, to find which of them changed a result, wants no others.
    session->trials_ = agreement->only.empty() ? agreement->trials : Trials::off;
    // Programs whose groups have as many ranks as the plan has are improved all the same, so we go on.
    if (session->rank_ == 0 && !agreement->unsurveyed) {
        const auto misfit =
            core::select::misfit(session->plan_, session->world_, session->trials_ != Trials::off);
        if (!misfit.empty()) {
            const char* yet = agreement->reproducible ? "; reductions run in one order all the same" : "";
            std::fprintf(stderr, "isochrone: %s%s\n", misfit.c_str(), yet);
        }
    }
    int is_ready = 1;
    try {
        session->make_communicators();
        if (agreement->unsurveyed) measure_links(session->comm_, session->rank_, session->world_);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "isochrone: %s\n", error.what());
        is_ready = 0;
    }
    check(PMPI_Allreduce(MPI_IN_PLACE, &is_ready, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD), "MPI_Allreduce");
    if (is_ready != 0) return session;
    if (session->rank_ == 0) {
        std::fprintf(stderr,
                     "isochrone: a rank could not be made ready: the MPI library's own collectives run\n");
    }
    return nullptr;
}

void Session::make_communicators() {
    comm_ = comm::own_world();
    check(PMPI_Comm_group(MPI_COMM_WORLD, &world_group_), "MPI_Comm_group");
    requests_ = std::make_unique<Requests>(plan_.reproducible);
    lanes_ = std::make_unique<Lanes>();
    groups_ = std::make_unique<executor::Groups>(comm_, world_);
    for (const auto& rule : plan_.rules) {
        if (rule.recipe.parts.empty() ||
            rule.recipe.parts.back().choice.algorithm != core::compose::native_name)
            continue;
        const int level = world_.level(rule.recipe.parts.back().level);
        if (level >= 0) groups_->make(level);
    }
    check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key_, this), "MPI_Comm_create_keyval");
}

Session::~Session() {
    if (rank_ == 0) say_what_ran();
    if (!learn_.empty()) account_.write_learned(learn_, plan_);
    for (Handle* handle : handles_) delete handle;
}

void Session::say_what_ran() const {
    if (explain_) account_.say_counts();
    if (!summary_) return;
    for (const auto& line : tallies_.lines()) std::fprintf(stderr, "isochrone: %s\n", line.c_str());
    account_.say_trials();
}

Session::Done Session::run(const Call& call, Unfinished& unfinished) {
    // What is wrong is for the library to find.
    const auto comm = handle<MPI_Comm>(call.comm);
    if (comm == MPI_COMM_NULL) return {};
    Handle& kept = handle_of(comm);
    if (!kept.dispatcher) {
        if (plan_.reproducible) say_that_order_may_differ(kept, call, kept.why_not);
        return {};
    }
    const bool has_root = call.root >= 0 && call.root < kept.size;
    const bool may_have_recipe =
        explain_ || kept.live || (has_root && kept.dispatcher->has_recipes(*call.collective));
    if (!check_ && !may_have_recipe) return {};
    const Request request = requests_->examine(call, kept.rank, kept.size);
    if (check_) {
        const auto row = call.collective - core::collectives::all().data();
        const Asked asked{.collective = row,
                          .bytes = request.is_valid ? request.bytes : Asked::invalid,
                          .root = call.root,
                          .op = call.collective->reduces ? operation_number(handle<MPI_Op>(call.op)) : 0};
        const std::string difference = compare(asked, comm, kept.size);
        if (!difference.empty()) {
            if (kept.rank == 0) std::fprintf(stderr, "isochrone: %s\n", difference.c_str());
            // The first error may end the job: not before that is said.
            check(PMPI_Barrier(comm), "MPI_Barrier");
            return {true, MPI_ERR_ARG};
        }
    }
    if (!request.is_possible) {
        if (plan_.reproducible && request.is_valid && request.bytes > 0) {
            say_that_order_may_differ(kept, call, "the elements of its datatype have gaps");
        }
        return {};
    }
    const bool is_for_trials = request.is_exact || trials_ == Trials::all;
    auto question = request.question;
    // What was found in calls whose results are the same to the last bit was tried on those alone.
    question.as_surveyed = !is_for_trials && surveyed_;
    executor::Live::Turn turn{&kept.dispatcher->decide(question, request.bytes)};
    if (kept.live && is_for_trials) turn = kept.live->next(question, request.bytes, *turn.decision);
    if (turn.decision->resolved != nullptr && kept.dispatcher->is_stopped())
        turn.decision = &kept.dispatcher->stopped();
    const auto& decision = *turn.decision;
    if (explain_) {
        account_.count(decision, request);
        if (kept.rank == 0 && kept.explained.insert(&decision).second) say_decision(decision, request);
    }
    if (decision.resolved == nullptr) {
        if (plan_.reproducible) say_that_order_may_differ(kept, call, decision.reason);
        if (turn.kind != nullptr)
            unfinished = {.kind = turn.kind, .handle = &kept, .begin_ns = now().count()};
        return {};
    }
    Tally& tally = tally_of(kept, decision);
    auto begin = now();
    const auto ended = [&](std::chrono::nanoseconds time) {
        if (turn.kind != nullptr)
            kept.live->ended(*turn.kind, std::chrono::duration<double>(time).count(), comm, kept.rank);
    };
    try {
        if (turn.kind != nullptr) {
            // A schedule for another root than before is set up once, and is no part of any other call.
            kept.dispatcher->prepare(decision, request.question.root,
                                     request.in_place || (request.blocks && request.blocks->in_place));
            begin = now();
        }
        requests_->run(*kept.dispatcher, decision, call, request, kept.rank);
    } catch (...) {
        // It may have ended well on other ranks, which count it.
        try {
            ended(now() - begin);
        } catch (const std::exception&) {
            // The first error is the one to be told.
        }
        throw;
    }
    const auto time = now() - begin;
    tally.add(time, decision.speedup);
    ended(time);
    return {true, MPI_SUCCESS};
}

void Session::finish(const Call& call, const Unfinished& unfinished) {
    const auto time = now() - std::chrono::nanoseconds(unfinished.begin_ns);
    const auto& kept = *static_cast<Handle*>(unfinished.handle);
    kept.live->ended(*static_cast<executor::Live::Kind*>(unfinished.kind),
                     std::chrono::duration<double>(time).count(), handle<MPI_Comm>(call.comm), kept.rank);
}

void Session::end_talks(MPI_Comm comm) const noexcept {
    void* value = nullptr;
    int found = 0;
    if (comm == MPI_COMM_NULL) return;  // for the library to find
    if (PMPI_Comm_get_attr(comm, key_, static_cast<void*>(&value), &found) != MPI_SUCCESS || found == 0)
        return;
    const auto& kept = *static_cast<Handle*>(value);
    if (kept.live) kept.live->end_talks();
}

/// When a communicator is freed, or MPI ends. Then the session may be gone already, with all that was kept.
int Session::forget(MPI_Comm /*comm*/, int /*key*/, void* value, void* extra) {
    auto* const session = static_cast<Session*>(extra);
    if (!is_open(session)) return MPI_SUCCESS;
    const std::unique_ptr<Handle> handle(static_cast<Handle*>(value));
    // What a call that failed left on its way stays in its lane for good.
    const auto& ran = handle->dispatcher;
    if (!ran || (!ran->has_failed() && !ran->is_stopped())) session->lanes_->give_back(handle->lane);
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
    handle->rank = comm::rank_in(comm);
    auto here = in_world(comm);
    if (!here) {
        handle->why_not = "its communicator has ranks of another world, or is between two groups";
        return handle;
    }
    handle->size = static_cast<int>(here->size());
    if (handle->size == 1) return handle;
    auto layout = world_.restricted_to(*here);
    handle->dispatcher = std::make_unique<Dispatcher>(
        std::move(layout), plan_,
        [this, comm, &handle = *handle, here = std::move(*here)] {
            return open_lane(comm, handle, here);  // it is asked again where it throws
        },
        surveyed_ ? &*surveyed_ : nullptr);
    if (trials_ != Trials::off) {
        handle->live = std::make_unique<executor::Live>(
            *handle->dispatcher, [this, &handle = *handle](const auto& kind, auto event) {
                account_.note(kind, event, handle.dispatcher->order(), !learn_.empty(), rank_ == 0);
                const bool none_was_tried =
                    event == executor::Live::Event::nothing_is_left && kind.proof.blocks == 0;
                if (explain_ && handle.rank == 0 && none_was_tried) say_that_none_is_tried(kind);
            });
    }
    return handle;
}

std::optional<core::place::Layout> Session::layout_of(MPI_Comm comm) const {
    const auto here = in_world(comm);
    if (!here) return {};
    return world_.restricted_to(*here);
}

/// The number in the world of each rank; nothing where they have none.
std::optional<std::vector<int>> Session::in_world(MPI_Comm comm) const {
    int is_inter = 0;
    check(PMPI_Comm_test_inter(comm, &is_inter), "MPI_Comm_test_inter");
    if (is_inter != 0) return {};
    const int size = comm::size_of(comm);
    MPI_Group group = MPI_GROUP_NULL;
    check(PMPI_Comm_group(comm, &group), "MPI_Comm_group");
    std::vector<int> here(static_cast<std::size_t>(size));
    std::iota(here.begin(), here.end(), 0);
    std::vector<int> result(here.size());
    const int code = PMPI_Group_translate_ranks(group, size, here.data(), world_group_, result.data());
    PMPI_Group_free(&group);
    check(code, "MPI_Group_translate_ranks");
    // Ranks of another world (spawned, or connected) have no known place. Each side misses the other's, so
    // all agree.
    if (std::find(result.begin(), result.end(), MPI_UNDEFINED) != result.end()) return {};
    return result;
}

Tally& Session::tally_of(Handle& kept, const Dispatcher::Decision& decision) {
    Tally*& tally = kept.tallies[&decision];
    if (tally == nullptr) tally = &tallies_.of(decision);
    return *tally;
}

/// Once for a communicator, where a reduction is the library's own though it was to run in one order. The
/// least and the largest, with their places, are the same in any order.
void Session::say_that_order_may_differ(Handle& kept, const Call& call, const std::string& why) const {
    const auto op = handle<MPI_Op>(call.op);
    if (!call.collective->reduces || why.empty() || kept.has_said_order || op == MPI_MAXLOC ||
        op == MPI_MINLOC)
        return;
    kept.has_said_order = true;
    if (kept.rank != 0) return;
    std::fprintf(
        stderr,
        "isochrone: %s: it cannot run in the one order of ISOCHRONE_REPRODUCIBLE, and the MPI library's "
        "own runs: %s\n",
        std::string(call.collective->name).c_str(), why.c_str());
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

}  // namespace isochrone::mpi::interpose
