// SPDX-License-Identifier: BSD-3-Clause
#include "record/runtime.hpp"

#include <dlfcn.h>
#include <link.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

#include "clock/clock.hpp"
#include "preload/environment.hpp"
#include "preload/library.hpp"
#include "preload/roll_call.hpp"
#include "record/file.hpp"
#include "record/profile_file.hpp"
#include "record/profiler.hpp"
#include "record/recorder.hpp"

namespace isochrone::mpi::record {
namespace {

/// The one object with all state, between the program's start of MPI and its end: of these two one is there.
std::atomic<Recorder*> recorder = nullptr;
std::atomic<Profiler*> profiler = nullptr;

/// Where the file is to be; empty: nothing is asked for. Messages are counted or collectives timed, not both.
std::string path() { return preload::variable("ISOCHRONE_RECORD"); }
std::string profile_path() { return path().empty() ? preload::variable("ISOCHRONE_PROFILE") : std::string(); }

struct Search {
    const char* address;
    const char* begin = nullptr;
    const char* end = nullptr;
};

int visit(dl_phdr_info* object, std::size_t /*size*/, void* data) {
    auto& search = *static_cast<Search*>(data);
    const char* begin = nullptr;
    const char* end = nullptr;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr) & header = object->dlpi_phdr[i];
        if (header.p_type != PT_LOAD) continue;
        const auto* from = reinterpret_cast<const char*>(object->dlpi_addr + header.p_vaddr);  // NOLINT
        if (begin == nullptr || from < begin) begin = from;
        end = std::max(end, from + header.p_memsz);
    }
    if (search.address < begin || search.address >= end) return 0;
    search.begin = begin;
    search.end = end;
    return 1;
}

void find_library() {
    Search search{static_cast<const char*>(dlsym(RTLD_NEXT, "PMPI_Get_library_version"))};
    dl_iterate_phdr(visit, &search);
    // Where what Fortran calls is in the same library, its calls look like the library's own.
    const auto* fortran = static_cast<const char*>(dlsym(RTLD_DEFAULT, "mpi_send_"));
    if (fortran >= search.begin && fortran < search.end) return;
    library_end = search.end;
    library_begin = search.begin;
}

/// Something went wrong, and this rank records nothing more, whatever the program asks for.
std::atomic<bool> given_up = false;

/// Calls act on what is there. What goes wrong is said once, and ends the recording on this rank.
template <class Object, class Act>
void with(const std::atomic<Object*>& object, Act&& act) noexcept {
    Object* const here = object.load(std::memory_order_acquire);
    if (here == nullptr) return;
    try {
        act(*here);
    } catch (const std::exception& error) {
        recording = false;
        if (!given_up.exchange(true))
            std::fprintf(stderr, "isochrone: from here on rank %d records nothing: %s\n", here->rank(),
                         error.what());
    }
}

template <class Act>
void with_recorder(Act&& act) noexcept {
    with(recorder, act);
}

void untimed(Untimed kind) noexcept {
    if (Profiler* const here = profiler.load(std::memory_order_acquire); here != nullptr) here->untimed(kind);
}

/// Whether all ranks record, the same on each. Then the unfinished file is there, which tells whoever waits
/// for the file that MPI has been started: before any rank goes on, as one alone can end the job.
bool all_record(const std::string& file) {
    const auto decide = [&](const preload::Roll& roll) {
        if (!roll.is_complete()) return 0;
        if (std::FILE* const empty = std::fopen(unfinished(file).c_str(), "w"); empty != nullptr)
            std::fclose(empty);
        return 1;
    };
    return preload::call_the_roll(preload::Occasion::recording, "here", decide).value_or(0) != 0;
}

/// Makes it the one that calls act on.
template <class Object>
void begin(std::atomic<Object*>& object) {
    object.store(std::make_unique<Object>().release(), std::memory_order_release);
    recording = true;
}

/// Takes it away, and writes what all ranks have seen.
template <class Object>
void end(std::atomic<Object*>& object, const std::string& file) noexcept {
    const std::unique_ptr<Object> here(object.exchange(nullptr));
    if (here == nullptr) return;
    try {
        const auto found = here->gathered();
        if (here->rank() != 0) return;
        const std::string complaint = write(file, found, here->places());
        if (!complaint.empty())
            std::fprintf(stderr, "isochrone: nothing is recorded: %s\n", complaint.c_str());
    } catch (const std::exception& error) {
        if (here->rank() == 0) std::fprintf(stderr, "isochrone: nothing is recorded: %s\n", error.what());
    }
}

}  // namespace

void started() noexcept {
    const std::string file = path();
    const std::string profile = profile_path();
    if (file.empty() && profile.empty()) return;
    if (!preload::is_of_this_library()) {
        preload::say_that_library_is_another();
        return;
    }
    try {
        // What a recorded program has started is a world of its own.
        MPI_Comm parent = MPI_COMM_NULL;
        if (PMPI_Comm_get_parent(&parent) != MPI_SUCCESS || parent != MPI_COMM_NULL) return;
        if (!all_record(file.empty() ? profile : file)) {
            if (preload::is_rank_0_of_launcher()) {
                std::fprintf(stderr,
                             "isochrone: nothing is recorded: not all ranks have loaded this preload\n");
            }
            return;
        }
        find_library();
        if (!file.empty()) {
            begin(recorder);
        } else {
            begin(profiler);
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "isochrone: nothing is recorded: %s\n", error.what());
    }
}

void ending() noexcept {
    recording = false;
    end(recorder, path());
    end(profiler, profile_path());
}

void phase(int level) noexcept {
    Recorder* const here = recorder.load(std::memory_order_acquire);
    if (level < 0 || (here == nullptr && profiler.load(std::memory_order_acquire) == nullptr)) return;
    if (here != nullptr && level > 1) here->set_phase(std::min(level, Recorder::most_phases));
    recording = level > 0 && !given_up;
}

void message_sent(const Message& message) noexcept {
    with_recorder([&](Recorder& here) { here.message(message, nullptr); });
}

double begins(const Inside& inside) noexcept {
    return inside.counts() && profiler.load(std::memory_order_relaxed) != nullptr ? clock::now() : 0;
}

void collective_called(const Call& call, double begin_s) noexcept {
    // A call that began before there was a profiler is no call of a program that this one is told of.
    if (begin_s != 0) {
        const double end_s = clock::now();
        with(profiler, [&](Profiler& here) { here.timed(call, begin_s, end_s); });
    }
    with_recorder([&](Recorder& here) { here.collective(call, nullptr); });
}

void collective_begun(const Call& call) noexcept {
    untimed(Untimed::nonblocking);
    with_recorder([&](Recorder& here) { here.collective(call, nullptr); });
}

void neighbours_called(const Call& call) noexcept {
    untimed(Untimed::neighbours);
    with_recorder([&](Recorder& here) { here.neighbours(call, nullptr); });
}

void prepared(const Message& message, const void* request) noexcept {
    with_recorder([&](Recorder& here) { here.message(message, request); });
}

void prepared(const Call& call, const void* request) noexcept {
    with(profiler, [&](Profiler& here) { here.prepared(Untimed::persistent, request); });
    with_recorder([&](Recorder& here) { here.collective(call, request); });
}

void prepared_exchange(const Call& call, const void* request) noexcept {
    with(profiler, [&](Profiler& here) { here.prepared(Untimed::neighbours, request); });
    with_recorder([&](Recorder& here) { here.neighbours(call, request); });
}

void start(int count, const void* requests) noexcept {
    with(profiler, [&](Profiler& here) { here.start(count, requests); });
    with_recorder([&](Recorder& here) { here.start(count, requests); });
}

void forget(const void* request) noexcept {
    with(profiler, [&](Profiler& here) { here.forget(request); });
    with_recorder([&](Recorder& here) { here.forget(request); });
}

}  // namespace isochrone::mpi::record
