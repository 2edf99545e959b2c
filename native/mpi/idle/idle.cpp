// SPDX-License-Identifier: BSD-3-Clause
//
// libisochrone_idle: a preload that lets more ranks than cores take turns. MPI libraries poll their network
// without waiting, which is right where each rank has a core. Where ranks share cores, a rank that polls
// keeps the one that it waits for from running. After a few polls in a row that found nothing, each further
// one leaves the core to others first. It does not wait for file descriptors: a message over shared memory
// makes none ready, and would be seen when the wait ends. Over UCX, which polls memory without a call to the
// system, ranks yield as well. Where the library itself yields they pause, for `pause_time`: Open MPI does so
// between any two polls.
#include <dlfcn.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

namespace {

constexpr int patience = 8;  // polls in vain
constexpr timespec pause_time{0, 20'000};

thread_local int in_vain = 0;

template <typename Function>
Function* next(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

using Progress = unsigned(void*);

/// UCX's own: a library that has loaded UCX for itself alone does not show it to RTLD_NEXT.
Progress* progress_of_ucx() {
    if (auto* const found = next<Progress>("ucp_worker_progress")) return found;
    void* const ucx = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
    auto* const found = ucx == nullptr ? nullptr : dlsym(ucx, "ucp_worker_progress");
    if (found == nullptr) std::abort();  // whoever calls it has it, and would wait for ever without
    return reinterpret_cast<Progress*>(found);
}

/// Counts a poll that found `found`; says whether the others should have the core before the next one.
bool should_rest(int found) {
    if (found != 0) {
        in_vain = 0;
        return false;
    }
    return ++in_vain >= patience;
}

void yield() { syscall(SYS_sched_yield); }

[[gnu::constructor]] void keep_waits_short() {
    // The kernel would add 50 microseconds to each wait.
    prctl(PR_SET_TIMERSLACK, 1000UL);
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int epoll_wait(int epoll, epoll_event* events, int most, int timeout) {
    static auto* const original = next<int(int, epoll_event*, int, int)>("epoll_wait");
    const int found = original(epoll, events, most, timeout);
    if (timeout == 0 && should_rest(found)) yield();
    return found;
}

[[gnu::visibility("default")]] int poll(pollfd* descriptors, nfds_t count, int timeout) {
    static auto* const original = next<int(pollfd*, nfds_t, int)>("poll");
    const int found = original(descriptors, count, timeout);
    if (timeout == 0 && should_rest(found)) yield();
    return found;
}

[[gnu::visibility("default")]] int sched_yield() {
    if (should_rest(0)) return nanosleep(&pause_time, nullptr), 0;
    yield();
    return 0;
}

[[gnu::visibility("default")]] unsigned ucp_worker_progress(void* worker) {
    static auto* const original = progress_of_ucx();
    const unsigned found = original(worker);
    if (should_rest(static_cast<int>(found))) yield();
    return found;
}

}  // extern "C"
