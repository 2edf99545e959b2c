// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/runtime.hpp"

#include <mpi.h>

#include <atomic>
#include <cstdio>
#include <exception>
#include <new>

#include "comm/check.hpp"
#include "interpose/environment.hpp"
#include "interpose/session.hpp"
#include "preload/environment.hpp"
#include "preload/library.hpp"
#include "preload/roll_call.hpp"
#include "preload/word.hpp"

namespace isochrone::mpi::interpose {

using preload::handle;
using preload::is_of_this_library;
using preload::is_rank_0_of_launcher;
using preload::is_turned_off;
using preload::Occasion;
using preload::say_that_library_is_another;
namespace {

/// The one object with all state. MPI itself ends its life: the delete function of an attribute of
/// MPI_COMM_SELF runs first in MPI_Finalize, whatever binding or tool that is called by. Never a static
/// object, whose end would come after MPI's.
std::atomic<Session*> session = nullptr;

/// Whether MPI was started through a function of ours, or it has been said that it was not.
std::atomic<bool> start_was_seen = false;

/// How deep this thread is in this library: what that calls itself is not looked at.
__attribute__((tls_model("initial-exec"))) thread_local int inside = 0;

class Inside {
  public:
    Inside() { ++inside; }
    ~Inside() { --inside; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
};

/// The call after which this library is silent: attributes on MPI_COMM_SELF go before all else.
int end_session(MPI_Comm /*comm*/, int /*key*/, void* /*value*/, void* /*extra*/) {
    delete session.exchange(nullptr);
    return MPI_SUCCESS;
}

/// MPI_Session_init, and what calls neither name of MPI_Init. A session of ours cannot be opened then: that
/// is collective over the world, and the first collective need not be, nor need there be a world.
void say_that_start_was_not_seen() {
    if (start_was_seen.exchange(true) || is_turned_off() || !plan_is_asked_for()) return;
    if (!is_of_this_library()) {
        say_that_library_is_another();
    } else if (is_rank_0_of_launcher()) {
        std::fprintf(stderr,
                     "isochrone: this program started MPI where a preload cannot see it, as MPI_Session_init "
                     "does: the MPI library's own collectives run\n");
    }
}

/// The code of an error, which is said.
int code_of(const std::exception& error) {
    int code = MPI_ERR_INTERN;
    if (const auto* known = dynamic_cast<const comm::Error*>(&error)) code = known->code();
    if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) code = MPI_ERR_NO_MEM;
    std::fprintf(stderr, "isochrone: %s\n", error.what());
    return code;
}

/// Hands an error to the communicator's error handler, as the library's own functions do. Not while we are
/// inside: the program's handler may make collective calls, or never come back.
int told(MPI_Comm comm, int code) {
    PMPI_Comm_call_errhandler(comm, code);
    return code;
}

/// Joins the other ranks in opening the session.
void open(Occasion occasion, bool is_able) noexcept {
    const Inside guard;
    try {
        auto opened = Session::open(occasion, is_able);
        if (!opened) return;
        int key = MPI_KEYVAL_INVALID;
        comm::check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_session, &key, nullptr),
                    "MPI_Comm_create_keyval");
        comm::check(PMPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
        session = opened.release();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "isochrone: %s: the MPI library's own collectives run\n", error.what());
    }
}

}  // namespace

void started() noexcept {
    start_was_seen = true;
    if (is_turned_off()) return;
    if (is_of_this_library()) {
        open(Occasion::plan, true);
    } else if (plan_is_asked_for()) {
        say_that_library_is_another();
    }
}

Session* open_session() noexcept { return session.load(std::memory_order_acquire); }

void start_on(const char* plan, const char* topology) noexcept {
    start_was_seen = true;
    if (!is_of_this_library()) {
        // So it is on all ranks.
        say_that_library_is_another();
        return;
    }
    bool is_able = !is_turned_off();
    try {
        name_files(plan, topology);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "isochrone: %s\n", error.what());
        is_able = false;
    }
    open(Occasion::opening, is_able);
}

bool is_open(const Session* which) noexcept { return session.load() == which; }

bool improve(const Call& call, int& code, Unfinished& unfinished) {
    if (inside > 0) return false;
    Session* const here = session.load(std::memory_order_acquire);
    if (here == nullptr) {
        if (!start_was_seen.load(std::memory_order_relaxed)) say_that_start_was_not_seen();
        return false;
    }
    bool is_done = true;
    {
        const Inside guard;
        try {
            const auto done = here->run(call, unfinished);
            code = done.code;
            is_done = done.done;
        } catch (const std::exception& error) {
            code = code_of(error);
        }
    }
    if (is_done && code != MPI_SUCCESS) told(handle<MPI_Comm>(call.comm), code);
    return is_done;
}

int finish(const Call& call, const Unfinished& unfinished, int code) {
    Session* const here = session.load(std::memory_order_acquire);
    if (here == nullptr) return code;
    int failed = MPI_SUCCESS;
    {
        const Inside guard;
        try {
            here->finish(call, unfinished);
        } catch (const std::exception& error) {
            failed = code_of(error);
        }
    }
    return failed == MPI_SUCCESS ? code : told(handle<MPI_Comm>(call.comm), failed);
}

void leaving(const void* comm) noexcept {
    Session* const here = session.load(std::memory_order_acquire);
    if (here == nullptr || comm == nullptr) return;
    const Inside guard;
    here->end_talks(*static_cast<const MPI_Comm*>(comm));
}

}  // namespace isochrone::mpi::interpose
