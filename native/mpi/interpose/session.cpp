// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/session.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "comm/check.hpp"
#include "fabric/client.hpp"
#include "interpose/compare.hpp"
#include "interpose/environment.hpp"
#include "interpose/runtime.hpp"
#include "place/hardware.hpp"
#include "preload/word.hpp"
#include "select/fit.hpp"
#include "select/only.hpp"

namespace isochrone::mpi::interpose {

using preload::handle;

using comm::check;
using executor::Dispatcher;

namespace {

std::chrono::nanoseconds now() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace

/// Why the plan does not hold, or nothing.
std::string Session::take_plan(const Agreement& agreement) {
    if (agreement.unsurveyed) {
        std::vector<core::place::Seat> seats;
        for (std::size_t rank = 0; rank < agreement.places.size(); ++rank)
            seats.push_back({agreement.places[rank].host, agreement.inner[rank]});
        world_ = core::place::of_hardware(seats);
        plan_.reproducible = agreement.reproducible;
        return {};
    }
    try {
        plan_ = core::select::parse_plan(agreement.plan);
        auto topology = core::topology::parse(agreement.topology);
        check_belongs(plan_, topology);
        core::select::use_names_of(plan_, topology);
        plan_.reproducible = agreement.reproducible;
        std::vector<core::topology::Place> ranks;
        for (const auto& place : agreement.places) ranks.push_back({place.host, place.cpus, place.signature});
        world_ = core::place::match(topology, ranks);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    if (agreement.only.empty()) return {};
    try {
        core::select::keep_only(plan_, core::select::parse_kept(agreement.only));
    } catch (const std::invalid_argument& error) {
        return std::string("ISOCHRONE_ONLY: ") + error.what();
    }
    return {};
}

/// How far they are apart, if recipes of the plan make use of it and a fabric's server knows. On rank 0.
std::string Session::ask_for_delays(const Agreement& agreement) const {
    const std::string address = read_inputs().fabric;
    const bool are_used = std::any_of(plan_.rules.begin(), plan_.rules.end(),
                                      [](const auto& rule) { return rule.recipe.is_mapped(); });
    if (address.empty()) return {};
    if (!are_used) {
        if (agreement.explain) {
            std::fprintf(
                stderr,
                "isochrone: no recipe of the plan is a tree laid over the hosts, so the fabric's server is "
                "not asked\n");
        }
        return {};
    }
    try {
        return fabric::ask(core::place::parse_fabric_server(address),
                           fabric::hosts_of(agreement.places).names);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "isochrone: %s: trees follow the topology alone\n", error.what());
        return {};
    }
}

void Session::take_delays(const Agreement& agreement) {
    if (!agreement.delays.empty())
        fabric::set_delays(world_, fabric::hosts_of(agreement.places), agreement.delays);
}

std::unique_ptr<Session> Session::open() {
    if (comm::size_of(MPI_COMM_WORLD) == 1) return nullptr;
    std::unique_ptr<Session> session(new Session());
    session->rank_ = comm::rank_in(MPI_COMM_WORLD);
    const auto agreement = agree([&](Agreement& proposed) {
        std::string why_not = session->take_plan(proposed);
        if (why_not.empty()) proposed.delays = session->ask_for_delays(proposed);
        return why_not;
    });
    if (!agreement) return nullptr;
    // From here on all ranks know the same and come to the same end.
    if (session->rank_ != 0) session->take_plan(*agreement);
    session->take_delays(*agreement);
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
        if (agreement->unsurveyed) session->measure_links();
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

/// Without a survey: a few round trips between rank 0 and the first rank of the last host tell more of the
/// links between nodes than their class does. Collective.
void Session::measure_links() {
    constexpr int trips = 5;  // of each size; the first sets up the connection
    constexpr std::array<int, 2> sizes{0, 65536};
    if (world_.levels.front() != "machine") return;
    const auto& nodes = world_.group_of[static_cast<std::size_t>(world_.level("node"))];
    const int last = *std::max_element(nodes.begin(), nodes.end());
    const auto partner = static_cast<int>(std::find(nodes.begin(), nodes.end(), last) - nodes.begin());
    std::array<double, 2> rtt_s{};
    if (rank_ == 0 || rank_ == partner) {
        std::vector<char> data(static_cast<std::size_t>(sizes.back()));
        const int peer = rank_ == 0 ? partner : 0;
        for (std::size_t size = 0; size < sizes.size(); ++size) {
            for (int trip = 0; trip < trips; ++trip) {
                const auto begin = now();
                const auto send = [&] {
                    check(PMPI_Send(data.data(), sizes[size], MPI_BYTE, peer, 0, comm_), "MPI_Send");
                };
                if (rank_ == 0) send();
                check(PMPI_Recv(data.data(), sizes[size], MPI_BYTE, peer, 0, comm_, MPI_STATUS_IGNORE),
                      "MPI_Recv");
                if (rank_ != 0) send();
                const double time_s = std::chrono::duration<double>(now() - begin).count();
                rtt_s[size] = trip == 0 ? time_s : std::min(rtt_s[size], time_s);
            }
        }
    }
    check(PMPI_Bcast(rtt_s.data(), static_cast<int>(rtt_s.size()), MPI_DOUBLE, 0, comm_), "MPI_Bcast");
    world_.links.front() = core::place::links_of(rtt_s[0], sizes.back(), rtt_s[1]);
}

void Session::make_communicators() {
    // A split runs no attribute copy functions of the program's, as a duplicate would.
    check(PMPI_Comm_split(MPI_COMM_WORLD, 0, rank_, &comm_), "MPI_Comm_split");
    comm::return_errors(comm_);
    check(PMPI_Comm_group(MPI_COMM_WORLD, &world_group_), "MPI_Comm_group");
    self_ = std::make_unique<Self>();
    types_ = std::make_unique<Types>(*self_);
    lanes_ = std::make_unique<Lanes>(threads_);
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

std::string Session::in_words(const core::collectives::Collective& collective, const Counts& counts) {
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

Session::~Session() {
    if (rank_ == 0) say_what_ran();
    if (!learn_.empty()) learned_.write(learn_, plan_);
    for (Handle* handle : handles_) delete handle;
}

void Session::say_what_ran() {
    if (explain_) {
        for (const auto& collective : core::collectives::all()) {
            const auto found = counts_.find(&collective);
            if (found == counts_.end()) continue;
            std::fprintf(stderr, "isochrone: %s\n", in_words(collective, found->second).c_str());
        }
        if (counts_.empty()) {
            std::fprintf(stderr, "isochrone: rank 0 has called no collective that a plan can be for\n");
        }
    }
    if (!summary_) return;
    for (const auto& line : tallies_.lines()) std::fprintf(stderr, "isochrone: %s\n", line.c_str());
    const auto ended = trying_.recipes + trying_.natives;
    if (trying_.begun + ended == 0) return;
    std::fprintf(
        stderr,
        "isochrone: live trials on rank 0: %llu of recipes that the model found; %llu times a recipe "
        "was faster, %llu times the MPI library's own\n",
        static_cast<unsigned long long>(trying_.begun), static_cast<unsigned long long>(trying_.recipes),
        static_cast<unsigned long long>(trying_.natives));
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
        explain_ || kept.live || (has_root && kept.dispatcher->has_recipes({call.collective, call.root}));
    if (!check_ && !may_have_recipe) return {};
    const Request request = examine(call, kept);
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
            PMPI_Comm_call_errhandler(comm, MPI_ERR_ARG);
            return {true, MPI_ERR_ARG};
        }
    }
    if (!request.is_possible) {
        if (plan_.reproducible && request.is_valid && request.bytes > 0) {
            say_that_order_may_differ(kept, call, "the elements of its datatype have gaps");
        }
        return {};
    }
    executor::Live::Turn turn{&kept.dispatcher->decide(request.question, request.bytes)};
    if (kept.live && (request.is_exact || trials_ == Trials::all))
        turn = kept.live->next(request.question, request.bytes, *turn.decision);
    const auto& decision = *turn.decision;
    if (explain_) count(kept, decision, request);
    if (decision.resolved == nullptr) {
        if (plan_.reproducible) say_that_order_may_differ(kept, call, decision.reason);
        if (turn.kind != nullptr)
            unfinished = {.kind = turn.kind, .handle = &kept, .begin_ns = now().count()};
        return {};
    }
    Tally& tally = tally_of(kept, decision);
    const auto begin = now();
    run_on(kept, decision, call, request);
    const auto time = now() - begin;
    tally.add(time);
    if (turn.kind != nullptr)
        kept.live->ended(*turn.kind, std::chrono::duration<double>(time).count(), comm, kept.rank);
    return {true, MPI_SUCCESS};
}

void Session::finish(const Call& call, const Unfinished& unfinished) {
    const auto time = now() - std::chrono::nanoseconds(unfinished.begin_ns);
    const auto& kept = *static_cast<Handle*>(unfinished.handle);
    kept.live->ended(*static_cast<executor::Live::Kind*>(unfinished.kind),
                     std::chrono::duration<double>(time).count(), handle<MPI_Comm>(call.comm), kept.rank);
}

Session::Request Session::examine(const Call& call, const Handle& kept) {
    const auto& collective = *call.collective;
    Request request{.question = {&collective, call.root}};
    if (call.root < 0 || call.root >= kept.size) return request;
    if (!collective.has_data) {
        request.is_valid = request.is_possible = true;
        return request;
    }
    if (collective.has_blocks()) {
        examine_blocks(call, kept, request);
        return request;
    }
    const auto type = handle<MPI_Datatype>(call.type);
    if (call.count < 0 || type == MPI_DATATYPE_NULL) return request;
    if (call.count == 0) {
        request.is_valid = true;
        return request;
    }
    const bool has_output = collective.has_output(kept.rank == call.root);
    // Of the first rank of an exscan, libraries do not look at it.
    const bool gets_nothing = collective.skips_first && kept.rank == 0 && call.input != MPI_IN_PLACE;
    if (has_output && !gets_nothing && call.output == MPI_IN_PLACE) return request;
    if (collective.reduces) {
        // A program that names one buffer twice means the same, though MPI does not allow it.
        request.in_place = has_output && (call.input == MPI_IN_PLACE || call.input == call.output);
        if (call.input == MPI_IN_PLACE && !has_output) return request;
        if (!request.in_place && call.input == nullptr) return request;
    }
    const void* some = has_output && (!gets_nothing || request.in_place) ? call.output : call.input;
    request.type = types_->find(const_cast<void*>(some), call.count, type);
    if (request.type == nullptr || __builtin_mul_overflow(request.type->size, call.count, &request.bytes)) {
        request.bytes = 0;
        return request;
    }
    request.is_valid = true;
    request.is_possible = request.bytes > 0;
    if (!collective.reduces) return request;
    const auto op = handle<MPI_Op>(call.op);
    request.is_valid = operations_.fit(op, type, types_->is_basic(type), *self_);
    // All ranks give the same type (MPI-3.1, section 5.9.1), so all come to the same.
    const Type& about = *request.type;
    request.is_possible = request.is_possible && request.is_valid && about.dense && about.begin == 0 &&
                          about.extent == about.size;
    request.is_exact = Operations::is_exact(op, type);
    if (request.is_possible) request.question.in_order = plan_.reproducible || !Operations::commutes(op);
    return request;
}

void Session::examine_blocks(const Call& call, const Handle& kept, Request& request) {
    const auto& collective = *call.collective;
    request.blocks = BlocksCall::read(call, kept.rank, kept.size, *types_);
    if (!request.blocks) return;
    request.is_valid = true;
    request.bytes = request.blocks->agreed_bytes(collective);
    // Of what ranks do not know alike nothing may be decided.
    request.is_possible = collective.agreed == core::collectives::Agreed::nothing || request.bytes > 0;
    if (!collective.reduces) return;
    const auto type = request.blocks->input.datatype;
    const auto op = handle<MPI_Op>(call.op);
    request.is_valid = operations_.fit(op, type, types_->is_basic(type), *self_);
    request.is_possible = request.is_possible && request.is_valid && request.blocks->is_dense();
    request.is_exact = Operations::is_exact(op, type);
    if (request.is_possible) request.question.in_order = plan_.reproducible || !Operations::commutes(op);
}

void Session::run_on(Handle& kept, const Dispatcher::Decision& decision, const Call& call,
                     const Request& request) {
    const auto& collective = *call.collective;
    const auto type = handle<MPI_Datatype>(call.type);
    if (!collective.has_data) {
        kept.dispatcher->run(decision, call.root, {}, 0);
    } else if (request.blocks) {
        run_blocks(*kept.dispatcher, decision, call, *request.blocks, kept.rank, *self_);
    } else if (collective.reduces) {
        const executor::Buffers buffers{
            .input = request.in_place ? call.output : call.input,
            .output = collective.has_output(kept.rank == call.root) ? call.output : nullptr,
            .in_place = request.in_place,
            .unit_bytes = request.type->size,
            .datatype = type,
            .op = handle<MPI_Op>(call.op)};
        kept.dispatcher->run(decision, call.root, buffers, call.count);
    } else {
        const bool is_root = kept.rank == call.root;
        Packed packed(call.output, call.count, type, *request.type, *self_, is_root);
        try {
            kept.dispatcher->run(decision, call.root, {.input = packed.data(), .output = packed.data()},
                                 request.bytes);
        } catch (...) {
            packed.abandon();
            throw;
        }
        if (!is_root) packed.unpack();
    }
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
        std::move(layout), plan_, [this, comm, &handle = *handle, here = std::move(*here)]() mutable {
            return open_lane(comm, handle, std::move(here));
        });
    if (trials_ != Trials::off) {
        handle->live = std::make_unique<executor::Live>(
            *handle->dispatcher, [this, &order = handle->dispatcher->order()](const auto& kind, auto event) {
                tell(kind, event, order);
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

void Session::tell(const executor::Live::Kind& kind, executor::Live::Event event, const std::string& order) {
    using Event = executor::Live::Event;
    const std::lock_guard lock(mutex_);
    if (event == Event::begun) {
        ++trying_.begun;
        return;
    }
    if (!learn_.empty()) learned_.note(kind, order);
    ++(event == Event::recipe_is_better ? trying_.recipes : trying_.natives);
    const bool is_wrong = kind.was_planned && event == Event::native_is_better;
    if (!is_wrong || rank_ != 0 || std::exchange(has_said_that_machine_differs_, true)) return;
    std::fprintf(
        stderr,
        "isochrone: the machine differs from what was surveyed: %s of about %lld bytes: %s; this and "
        "the like run so from now on, and a new survey would say more\n",
        std::string(kind.question.collective->name).c_str(), static_cast<long long>(kind.bytes),
        kind.incumbent->reason.c_str());
}

void Session::count(Handle& kept, const Dispatcher::Decision& decision, const Request& request) {
    const bool first = kept.rank == 0 && kept.explained.insert(&decision).second;
    const auto& collective = *request.question.collective;
    {
        const std::lock_guard lock(mutex_);
        Counts& counts = counts_[&collective];
        using core::select::Basis;
        if (decision.resolved != nullptr) {
            ++(decision.basis == Basis::predicted ||
                       (decision.basis == Basis::live && decision.rule == nullptr)
                   ? counts.tried
                   : counts.recipes);
        } else if (decision.basis == Basis::live && decision.rule == nullptr) {
            ++counts.checked;
        } else if (decision.basis == Basis::interpolated) {
            ++counts.planned_native;
        } else if (decision.rule == nullptr) {
            ++counts.not_measured;
        } else if (decision.rule->left_out) {
            ++counts.left_out;
        } else if (decision.rule->recipe.kind == core::compose::Recipe::Kind::native) {
            ++counts.planned_native;
        } else {
            ++counts.refused;
        }
    }
    if (!first) return;
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
