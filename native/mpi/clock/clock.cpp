// SPDX-License-Identifier: BSD-3-Clause
#include "clock/clock.hpp"

#ifdef ISOCHRONE_SMPI
#include <simgrid/actor.h>
#endif
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "comm/check.hpp"
#include "comm/cpu_list.hpp"
#include "comm/place.hpp"

namespace isochrone::mpi::clock {

double now() { return MPI_Wtime(); }

Calibration calibrate() {
    constexpr int batches = 10;
    constexpr int reads = 20;
    double overhead_s = std::numeric_limits<double>::infinity();
    double resolution_s = std::numeric_limits<double>::infinity();
    for (int batch = 0; batch < batches; ++batch) {
        const double first = now();
        double last = first;
        for (int read = 0; read < reads; ++read) {
            const double next = now();
            if (next > last) resolution_s = std::min(resolution_s, next - last);
            last = next;
        }
        // The mean over a batch, because one read may cost less than the clock can show; the least of the
        // batches, because any of them may have been interrupted.
        overhead_s = std::min(overhead_s, (last - first) / reads);
    }
    // MPI_Wtick is what the library believes; it answers only where no two reads differed.
    return {std::isfinite(resolution_s) ? resolution_s : MPI_Wtick(), std::max(overhead_s, 0.0)};
}

bool oversubscribed_anywhere(MPI_Comm comm, const Occupancy& occupancy) {
    int any = occupancy.oversubscribed() ? 1 : 0;
    comm::check(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, comm), "MPI_Allreduce");
    return any != 0;
}

#ifdef ISOCHRONE_SMPI

void sleep_for(double duration_s) {
    // SimGrid's nanosleep would round up to nanoseconds, and so start ranks at different times.
    if (duration_s > 0) sg_actor_sleep_for(duration_s);
}

Occupancy occupancy(MPI_Comm) { return {}; }

void sleep_until(double time_s, const Occupancy&) {
    // Simulated time stands still while a rank computes: only sleeping makes it pass.
    for (double left_s = time_s - now(); left_s > 0; left_s = time_s - now()) sleep_for(left_s);
}

#else

void sleep_for(double duration_s) {
    if (!(duration_s > 0)) return;
    timespec duration{};
    duration.tv_sec = static_cast<time_t>(duration_s);
    // Rounded up: a sleep that ends early would have to be repeated.
    duration.tv_nsec =
        static_cast<long>(std::ceil((duration_s - static_cast<double>(duration.tv_sec)) * 1e9));
    if (duration.tv_nsec >= 1'000'000'000L) {
        duration.tv_nsec -= 1'000'000'000L;
        ++duration.tv_sec;
    }
    nanosleep(&duration, nullptr);
}

MPI_Comm split_by_machine(MPI_Comm comm) {
    const std::string boot = comm::boot_id();
    int known = boot.empty() ? 0 : 1;
    comm::check(MPI_Allreduce(MPI_IN_PLACE, &known, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
    MPI_Comm machine = MPI_COMM_NULL;
    if (known != 0) {
        const auto color = static_cast<int>(std::hash<std::string>{}(boot)&0x7fffffff);
        comm::check(MPI_Comm_split(comm, color, 0, &machine), "MPI_Comm_split");
    } else {
        comm::check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine),
                    "MPI_Comm_split_type");
    }
    return machine;
}

Occupancy occupancy(MPI_Comm comm) {
    MPI_Comm host = split_by_machine(comm);
    const int ranks = comm::size_of(host);
    int machine = comm::rank_in(comm);
    comm::check(MPI_Allreduce(MPI_IN_PLACE, &machine, 1, MPI_INT, MPI_MIN, host), "MPI_Allreduce");
    std::vector<std::uint64_t> mask(comm::max_cpus / 64);
    for (const int cpu : comm::allowed_cpus())
        mask[static_cast<std::size_t>(cpu) / 64] |= std::uint64_t{1} << (cpu % 64);
    comm::check(
        MPI_Allreduce(MPI_IN_PLACE, mask.data(), static_cast<int>(mask.size()), MPI_UINT64_T, MPI_BOR, host),
        "MPI_Allreduce");
    comm::check(MPI_Comm_free(&host), "MPI_Comm_free");
    int cpus = 0;
    for (const std::uint64_t word : mask) cpus += __builtin_popcountll(word);
    // Where the system does not tell which CPUs are allowed, all ranks share one.
    return {ranks, std::max(cpus, 1), machine};
}

void sleep_until(double time_s, const Occupancy& occupancy) {
    // Unless told otherwise the kernel wakes a sleeper up to 50 us late.
    if (occupancy.oversubscribed()) prctl(PR_SET_TIMERSLACK, 1000UL);
    for (double left_s = time_s - now(); left_s > 0; left_s = time_s - now()) {
        if (occupancy.oversubscribed()) sleep_for(left_s);
    }
}

#endif

}  // namespace isochrone::mpi::clock
