// SPDX-License-Identifier: BSD-3-Clause
#include "comm/wait.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "comm/check.hpp"

namespace isochrone::mpi::comm {

bool look_until(const std::function<bool()>& look, double longest_s) {
    using Clock = std::chrono::steady_clock;
    constexpr double awake_s = 0.05;
    // Of what it has waited so far: so much longer the whole wait becomes.
    constexpr double nap_share = 0.01;
    constexpr double longest_nap_s = 5e-3;
    const auto begin = Clock::now();
    while (!look()) {
        const double waited_s = std::chrono::duration<double>(Clock::now() - begin).count();
        if (waited_s > longest_s) return false;
        if (waited_s < awake_s) {
            sched_yield();
        } else {
            usleep(static_cast<useconds_t>(1e6 * std::min(nap_share * waited_s, longest_nap_s)));
        }
    }
    return true;
}

void wait_for_rank_0(MPI_Comm comm) {
#ifdef ISOCHRONE_SMPI
    // Simulated time stands still while a rank looks, and no rank has a core of its own.
    static_cast<void>(comm);
#else
    char nothing = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    check(PMPI_Ibcast(&nothing, 1, MPI_CHAR, 0, comm, &request), "MPI_Ibcast");
    const auto is_here = [&] {
        int done = 0;
        check(PMPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        return done != 0;
    };
    look_until(is_here, std::numeric_limits<double>::infinity());
#endif
}

}  // namespace isochrone::mpi::comm
