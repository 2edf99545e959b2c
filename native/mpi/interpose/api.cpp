// SPDX-License-Identifier: BSD-3-Clause
//
// The functions of isochrone.h.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "comm/version.hpp"
#include "interpose/isochrone.h"
#include "interpose/runtime.hpp"
#include "interpose/session.hpp"
#include "select/choose.hpp"

namespace {

using namespace isochrone;
using mpi::interpose::Session;

bool mpi_runs() {
    int started = 0;
    int ended = 0;
    PMPI_Initialized(&started);
    PMPI_Finalized(&ended);
    return started != 0 && ended == 0;
}

int give(const std::string& text, char* buffer, size_t size) {
    if (buffer == nullptr || size == 0) return ISOCHRONE_ERR_ARG;
    const std::size_t length = std::min(text.size(), size - 1);
    std::memcpy(buffer, text.data(), length);
    buffer[length] = '\0';
    return length < text.size() ? ISOCHRONE_ERR_SIZE : ISOCHRONE_SUCCESS;
}

/// Calls act(session), which returns an error code.
template <class Act>
int with_session(Act&& act) noexcept {
    Session* const session = mpi::interpose::open_session();
    if (session == nullptr) return ISOCHRONE_ERR_INACTIVE;
    try {
        return act(*session);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "isochrone: %s\n", error.what());
        return ISOCHRONE_ERR_INTERNAL;
    }
}

bool has_level(const core::place::Layout& layout, int level) {
    return level >= 0 && static_cast<std::size_t>(level) < layout.levels.size();
}

}  // namespace

const char* isochrone_version(void) { return mpi::comm::isochrone_version; }

const char* isochrone_error_text(int error) {
    switch (error) {
        case ISOCHRONE_SUCCESS:
            return "success";
        case ISOCHRONE_ERR_INACTIVE:
            return "no plan is followed";
        case ISOCHRONE_ERR_ARG:
            return "wrong argument";
        case ISOCHRONE_ERR_COMM:
            return "no plan can be for this communicator";
        case ISOCHRONE_ERR_SIZE:
            return "the text is longer than the buffer";
        case ISOCHRONE_ERR_ORDER:
            return "MPI does not run, or a plan is followed already";
        case ISOCHRONE_ERR_INTERNAL:
            return "an error that a line on stderr tells";
        default:
            return "no error of Isochrone's";
    }
}

int isochrone_open(const char* plan, const char* topology) {
    if (plan == nullptr || topology == nullptr) return ISOCHRONE_ERR_ARG;
    if (!mpi_runs() || mpi::interpose::open_session() != nullptr) return ISOCHRONE_ERR_ORDER;
    mpi::interpose::start_on(plan, topology);
    return mpi::interpose::open_session() != nullptr ? ISOCHRONE_SUCCESS : ISOCHRONE_ERR_INACTIVE;
}

int isochrone_is_open(void) { return mpi::interpose::open_session() != nullptr ? 1 : 0; }

int isochrone_level_count(int* count) {
    if (count == nullptr) return ISOCHRONE_ERR_ARG;
    return with_session([&](Session& session) {
        *count = static_cast<int>(session.world().levels.size());
        return ISOCHRONE_SUCCESS;
    });
}

int isochrone_level_name(int level, char* name, size_t size) {
    return with_session([&](Session& session) -> int {
        if (!has_level(session.world(), level)) return ISOCHRONE_ERR_ARG;
        return give(session.world().levels[static_cast<std::size_t>(level)], name, size);
    });
}

int isochrone_group(MPI_Comm comm, int level, int* group, int* size, int* leader) {
    return with_session([&](Session& session) -> int {
        if (comm == MPI_COMM_NULL || !has_level(session.world(), level)) return ISOCHRONE_ERR_ARG;
        const auto layout = session.layout_of(comm);
        if (!layout) return ISOCHRONE_ERR_COMM;
        const auto& groups = layout->group_of[static_cast<std::size_t>(level)];
        int rank = 0;
        if (PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS) return ISOCHRONE_ERR_INTERNAL;
        const int mine = groups[static_cast<std::size_t>(rank)];
        if (group != nullptr) *group = mine;
        if (size != nullptr) *size = static_cast<int>(std::count(groups.begin(), groups.end(), mine));
        const auto first = std::find(groups.begin(), groups.end(), mine);
        if (leader != nullptr) *leader = static_cast<int>(first - groups.begin());
        return ISOCHRONE_SUCCESS;
    });
}

int isochrone_recipe(MPI_Comm comm, const char* collective, int64_t bytes, int root, char* text,
                     size_t size) {
    return with_session([&](Session& session) -> int {
        if (comm == MPI_COMM_NULL || collective == nullptr || bytes < 0) return ISOCHRONE_ERR_ARG;
        const auto* row = core::collectives::find(collective);
        if (row == nullptr) return ISOCHRONE_ERR_ARG;
        const auto layout = session.layout_of(comm);
        if (!layout) return ISOCHRONE_ERR_COMM;
        if (root < 0 || root >= layout->size) return ISOCHRONE_ERR_ARG;
        if (layout->size == 1) return give("native: there is one rank only", text, size);
        const auto choice = core::select::choose(session.plan(), *row, *layout, root, bytes);
        return give(core::compose::to_text(choice.recipe) + ": " + choice.reason, text, size);
    });
}

int isochrone_read_counters(const char* collective, isochrone_counters* counters) {
    return with_session([&](Session& session) -> int {
        const auto* row = collective == nullptr ? nullptr : core::collectives::find(collective);
        if (counters == nullptr || (collective != nullptr && row == nullptr)) return ISOCHRONE_ERR_ARG;
        const auto sum = session.tallies().sum(row);
        *counters = {sum.calls, sum.seconds, sum.saved_s};
        return ISOCHRONE_SUCCESS;
    });
}
