// SPDX-License-Identifier: BSD-3-Clause
#include "executor/dispatcher.hpp"

#include "comm/check.hpp"
#include "select/choose.hpp"

namespace isochrone::mpi::executor {

using comm::check;
using core::select::Rule;

Dispatcher::Dispatcher(MPI_Comm comm, core::place::Layout layout, const core::select::Plan& plan,
                       std::function<bool()> usable)
    : comm_(comm), layout_(std::move(layout)), plan_(plan), usable_(std::move(usable)) {}

const Dispatcher::Decision& Dispatcher::decide_bcast(int root, std::int64_t bytes) {
    const auto [entry, is_new] = roots_.try_emplace(root);
    Root& here = entry->second;
    if (is_new) here.shape = core::place::shape(layout_, root);
    const Rule* rule = core::select::find_rule(plan_, "bcast", here.shape, bytes);
    const auto found = here.by_rule.find(rule);
    if (found != here.by_rule.end()) return found->second;
    Decision decision = make_decision(root, bytes);
    decision.rule = rule;
    return here.by_rule.emplace(rule, std::move(decision)).first->second;
}

Dispatcher::Decision Dispatcher::make_decision(int root, std::int64_t bytes) {
    const auto choice = core::select::choose(plan_, layout_, root, bytes);
    if (choice.recipe.kind == core::compose::Recipe::Kind::native) return {nullptr, choice.reason};
    if (!open()) return {nullptr, "no private communicator could be made, or memory may be a GPU's"};
    const auto& resolved = communicator_->resolve_bcast(choice.recipe);
    communicator_->prepare_bcast(resolved, root);
    return {&resolved, choice.reason};
}

bool Dispatcher::open() {
    if (communicator_ || refused_) return !refused_;
    // A library that is out of communicators must not end the program, so errors are returned for the while.
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    check(PMPI_Comm_get_errhandler(comm_, &handler), "MPI_Comm_get_errhandler");
    check(PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    int usable = !usable_ || usable_() ? 1 : 0;
    check(PMPI_Allreduce(MPI_IN_PLACE, &usable, 1, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce");
    if (usable != 0) {
        try {
            communicator_ = std::make_unique<Communicator>(comm_, layout_);
        } catch (const comm::Error&) {
            usable = 0;
        }
        check(PMPI_Allreduce(MPI_IN_PLACE, &usable, 1, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce");
    }
    check(PMPI_Comm_set_errhandler(comm_, handler), "MPI_Comm_set_errhandler");
    if (handler != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&handler);
    refused_ = usable == 0;
    return !refused_;
}

void Dispatcher::bcast(const Decision& decision, void* data, std::int64_t bytes, int root) {
    communicator_->bcast(*decision.resolved, data, bytes, root);
}

void Dispatcher::abandon() {
    if (communicator_) communicator_->abandon();
}

}  // namespace isochrone::mpi::executor
