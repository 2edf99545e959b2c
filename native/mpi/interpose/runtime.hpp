// SPDX-License-Identifier: BSD-3-Clause
//
// What the entry points ask. Nothing throws out of here, except an error handler of the program, and nothing
// here is called before the program's first MPI function or after its last.
#pragma once

#include "interpose/call.hpp"

namespace isochrone::mpi::interpose {

/// After the program has started MPI: joins the other ranks in opening the session, where there is a plan.
void started() noexcept;

class Session;

/// The session that is open, or nullptr.
Session* open_session() noexcept;

/// As started(), on a plan and a topology of these names. Collective over MPI_COMM_WORLD.
void start_on(const char* plan, const char* topology) noexcept;

/// Whether this is the session that is open now.
bool is_open(const Session* session) noexcept;

/// Does what is asked for, if the plan has a recipe. False: the caller is to call the library's own. `code`
/// is what the program gets.
/// `unfinished`: what is to be known after a call of the library's own. Throws what an error handler of the
/// program throws.
bool improve(const Call& call, int& code, Unfinished& unfinished);

/// After a call of the library's own that is to be known of, which returned `code`. Returns what the program
/// gets. Throws what an error handler of the program throws.
int finish(const Call& call, const Unfinished& unfinished, int code);

/// Before the program frees a communicator, to which it has a pointer.
void leaving(const void* comm) noexcept;

}  // namespace isochrone::mpi::interpose
