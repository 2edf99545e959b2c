// SPDX-License-Identifier: BSD-3-Clause
//
// libisochrone_idle: a preload that lets more ranks than cores take turns. MPI libraries poll their network
// without waiting, which is right where each rank has a core. Where ranks share cores, a rank that polls
// keeps the one that it waits for from running. After a few polls in a row that found nothing, the next ones
// wait: for at most `longest_wait` where a file descriptor may become ready, for `pause_time` where the
// library only yields. Over UCX, which polls memory without a call to the system, they yield. A message over
// shared memory, which makes no descriptor ready, may be seen that much later: results say whether ranks
// idled so.
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
constexpr timespec longest_wait{0, 300'000};
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

/// Counts a poll that found `found`; says whether the next one should wait.
bool should_wait(int found) {
    if (found != 0) {
        in_vain = 0;
        return false;
    }
    return ++in_vain >= patience;
}

[[gnu::constructor]] void keep_waits_short() {
    // The kernel would add 50 microseconds to each wait.
    prctl(PR_SET_TIMERSLACK, 1000UL);
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int epoll_wait(int epoll, epoll_event* events, int most, int timeout) {
    static auto* const original = next<int(int, epoll_event*, int, int)>("epoll_wait");
    const int found = original(epoll, events, most, timeout);
    if (timeout != 0 || !should_wait(found)) return found;
    return epoll_pwait2(epoll, events, most, &longest_wait, nullptr);
}

[[gnu::visibility("default")]] int poll(pollfd* descriptors, nfds_t count, int timeout) {
    static auto* const original = next<int(pollfd*, nfds_t, int)>("poll");
    const int found = original(descriptors, count, timeout);
    if (timeout != 0 || !should_wait(found)) return found;
    return ppoll(descriptors, count, &longest_wait, nullptr);
}

[[gnu::visibility("default")]] int sched_yield() {
    if (should_wait(0)) return nanosleep(&pause_time, nullptr), 0;
    return static_cast<int>(syscall(SYS_sched_yield));
}

[[gnu::visibility("default")]] unsigned ucp_worker_progress(void* worker) {
    static auto* const original = progress_of_ucx();
    const unsigned found = original(worker);
    if (should_wait(static_cast<int>(found))) syscall(SYS_sched_yield);
    return found;
}

}  // extern "C"
