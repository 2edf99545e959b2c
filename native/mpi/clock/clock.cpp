// SPDX-License-Identifier: BSD-3-Clause
#include "clock/clock.hpp"

#ifdef ISOCHRONE_SMPI
#include <simgrid/actor.h>
#endif
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <limits>

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

#ifdef ISOCHRONE_SMPI

void sleep_for(double duration_s) {
    // SimGrid's nanosleep would round up to nanoseconds, and so start ranks at different times.
    if (duration_s > 0) sg_actor_sleep_for(duration_s);
}

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

void sleep_until(double time_s, const Occupancy& occupancy) {
    // Unless told otherwise the kernel wakes a sleeper up to 50 us late.
    if (occupancy.oversubscribed()) prctl(PR_SET_TIMERSLACK, 1000UL);
    for (double left_s = time_s - now(); left_s > 0; left_s = time_s - now()) {
        if (occupancy.oversubscribed()) sleep_for(left_s);
    }
}

#endif

}  // namespace isochrone::mpi::clock
