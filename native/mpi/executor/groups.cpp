// SPDX-License-Identifier: BSD-3-Clause
#include "executor/groups.hpp"

#include <algorithm>

#include "comm/check.hpp"

namespace isochrone::mpi::executor {
namespace {

using comm::check;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

}  // namespace

Groups::Groups(MPI_Comm comm, const core::place::Layout& layout) : comm_(comm), layout_(layout) {}

void Groups::make(int level) {
    if (groups_.contains(level)) return;
    const auto& group_of = layout_.group_of[at(level)];
    const int rank = comm::rank_in(comm_);
    Group group;
    for (int member = 0; member < layout_.size; ++member) {
        if (group_of[at(member)] == group_of[at(rank)]) group.members.push_back(member);
    }
    check(PMPI_Comm_split(comm_, group_of[at(rank)], rank, &group.comm), "MPI_Comm_split");
    comm::return_errors(group.comm);
    // A library sets up much of a communicator in its first collective: here, and not in somebody's
    // broadcast.
    char nothing = 0;
    check(PMPI_Bcast(&nothing, 1, MPI_CHAR, 0, group.comm), "MPI_Bcast");
    groups_.emplace(level, std::move(group));
}

void Groups::free() {
    for (auto& [level, group] : groups_) PMPI_Comm_free(&group.comm);
    groups_.clear();
}

bool Groups::hold(int level, const core::place::Layout& layout, const std::vector<int>& ranks) const {
    if (!groups_.contains(level)) return false;
    const auto sizes = [](const std::vector<int>& group_of) {
        std::map<int, int> result;
        for (const int group : group_of) ++result[group];
        return result;
    };
    const auto& theirs = layout.group_of[at(level)];
    const auto& ours = layout_.group_of[at(level)];
    const auto their_sizes = sizes(theirs);
    const auto our_sizes = sizes(ours);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        if (their_sizes.at(theirs[i]) != our_sizes.at(ours[at(ranks[i])])) return false;
    }
    return true;
}

int Groups::number(int level, int rank) const {
    const auto& members = groups_.at(level).members;
    return static_cast<int>(std::lower_bound(members.begin(), members.end(), rank) - members.begin());
}

}  // namespace isochrone::mpi::executor
