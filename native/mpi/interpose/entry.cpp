// SPDX-License-Identifier: BSD-3-Clause
//
// The MPI functions that the preloaded library takes the place of. Each does what the program asked for
// through the library's own PMPI function; broadcasts may take another way there. Nothing throws out of here.
//
// A profiler that is preloaded too stands in front of this library or behind it, as LD_PRELOAD lists them: in
// front it sees the program's calls, behind it sees none, because messages and the library's own collectives
// are called by their PMPI names.
#include <mpi.h>

#include <atomic>
#include <cstdio>
#include <exception>
#include <memory>

#include "comm/check.hpp"
#include "interpose/environment.hpp"
#include "interpose/session.hpp"

namespace {

using isochrone::mpi::interpose::Session;

/// The one object with all state. It lives from MPI_Init to MPI_Finalize, both of which a program calls once,
/// in one thread.
std::unique_ptr<Session>& session() {
    static std::unique_ptr<Session> the_session;
    return the_session;
}

/// Whether MPI was started through a function of ours, or it has been said that it was not.
std::atomic<bool> start_was_seen = false;

/// When the program is loaded: later no function of ours may ever be called.
__attribute__((constructor)) void say_what_is_not_seen() {
    using namespace isochrone::mpi::interpose;
    if (!fortran_goes_around()) return;
    start_was_seen = true;
    if (!is_rank_0_of_launcher()) return;
    std::fprintf(stderr,
                 "isochrone: this program has Open MPI's Fortran bindings, which a preload cannot see into: "
                 "what it calls from Fortran runs on the MPI library's own\n");
}

/// MPICH's mpi_f08 starts MPI by PMPI_Init, but broadcasts by MPI_Bcast. A session cannot be opened then:
/// that is collective over the world, and the first broadcast need not be, nor need there be a world.
void say_that_start_was_not_seen() {
    using namespace isochrone::mpi::interpose;
    if (start_was_seen.exchange(true) || !plan_is_asked_for() || !is_rank_0_of_launcher()) return;
    std::fprintf(
        stderr,
        "isochrone: this program started MPI where a preload cannot see it, as mpi_f08 of Fortran and "
        "MPI_Session_init do: the MPI library's own broadcasts run\n");
}

void open_session() {
    start_was_seen = true;
    if (isochrone::mpi::interpose::loaded_mpi_libraries() > 1) {
        std::fprintf(
            stderr,
            "isochrone: this preload was built for another MPI library than the program: it does nothing; "
            "see isochrone mpi list\n");
        return;
    }
    try {
        session() = Session::open();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "isochrone: %s: the MPI library's own collectives run\n", error.what());
    }
}

/// Hands an error to the communicator's error handler, as the library's own functions do.
int fail(MPI_Comm comm, const std::exception& error) {
    const auto* known = dynamic_cast<const isochrone::mpi::comm::Error*>(&error);
    const int code = known != nullptr ? known->code() : MPI_ERR_INTERN;
    std::fprintf(stderr, "isochrone: %s\n", error.what());
    PMPI_Comm_call_errhandler(comm, code);
    return code;
}

}  // namespace

#define ISOCHRONE_EXPORT extern "C" __attribute__((visibility("default")))

ISOCHRONE_EXPORT int MPI_Init(int* argc, char*** argv) {
    const int code = PMPI_Init(argc, argv);
    if (code == MPI_SUCCESS) open_session();
    return code;
}

ISOCHRONE_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    const int code = PMPI_Init_thread(argc, argv, required, provided);
    if (code == MPI_SUCCESS) open_session();
    return code;
}

ISOCHRONE_EXPORT int MPI_Finalize() {
    session().reset();
    return PMPI_Finalize();
}

ISOCHRONE_EXPORT int MPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    if (session()) {
        try {
            if (session()->bcast(buffer, count, datatype, root, comm)) return MPI_SUCCESS;
        } catch (const std::exception& error) {
            return fail(comm, error);
        }
    } else {
        say_that_start_was_not_seen();
    }
    return PMPI_Bcast(buffer, count, datatype, root, comm);
}

ISOCHRONE_EXPORT int MPI_Comm_free(MPI_Comm* comm) {
    if (session() && comm != nullptr) {
        try {
            session()->forget(*comm);
        } catch (const std::exception& error) {
            return fail(*comm, error);
        }
    }
    return PMPI_Comm_free(comm);
}

ISOCHRONE_EXPORT int MPI_Comm_disconnect(MPI_Comm* comm) {
    if (session() && comm != nullptr) {
        try {
            session()->forget(*comm);
        } catch (const std::exception& error) {
            return fail(*comm, error);
        }
    }
    return PMPI_Comm_disconnect(comm);
}
