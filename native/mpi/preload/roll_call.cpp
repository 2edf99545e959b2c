// SPDX-License-Identifier: BSD-3-Clause
#include "preload/roll_call.hpp"

#include <sched.h>
#include <unistd.h>

#include <cstddef>

#include "comm/check.hpp"
#include "executor/tags.hpp"

namespace isochrone::mpi::preload {

using comm::check;
using std::chrono::duration;
using std::chrono::steady_clock;

namespace {

/// What ranks say. Never freed: nobody may ever receive what is sent to a rank 0 that has no preload.
constexpr int here = 0x69736f63;

bool hear_all(int size, int tag) {
    const auto others = static_cast<std::size_t>(size - 1);
    std::vector<int> heard(others);
    std::vector<MPI_Request> requests(others, MPI_REQUEST_NULL);
    for (std::size_t other = 0; other < others; ++other) {
        check(PMPI_Irecv(&heard[other], 1, MPI_INT, static_cast<int>(other) + 1, tag, MPI_COMM_WORLD,
                         &requests[other]),
              "MPI_Irecv");
    }
    bool all = wait(requests, patience);
    if (!all) {
        all = true;
        for (MPI_Request& request : requests) all = !take_back(request) && all;
    }
    int answer = all ? 1 : 0;
    std::vector<MPI_Request> answers;
    for (std::size_t other = 0; other < others; ++other) {
        if (heard[other] != here) continue;
        answers.push_back(MPI_REQUEST_NULL);
        check(PMPI_Isend(&answer, 1, MPI_INT, static_cast<int>(other) + 1, tag, MPI_COMM_WORLD,
                         &answers.back()),
              "MPI_Isend");
    }
    check(PMPI_Waitall(static_cast<int>(answers.size()), answers.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    return all;
}

bool ask_rank_0(int tag) {
    int answer = 0;
    std::vector<MPI_Request> requests(2, MPI_REQUEST_NULL);
    check(PMPI_Irecv(&answer, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, requests.data()), "MPI_Irecv");
    check(PMPI_Isend(&here, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, &requests[1]), "MPI_Isend");
    if (!wait(requests, patience_with_rank_0) && take_back(requests[0])) {
        if (requests[1] != MPI_REQUEST_NULL) check(PMPI_Request_free(&requests[1]), "MPI_Request_free");
        return false;
    }
    return answer != 0;
}

}  // namespace

bool wait(std::vector<MPI_Request>& requests, duration<double> longest) {
    const auto begin = steady_clock::now();
    for (;;) {
        int done = 0;
        check(PMPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
              "MPI_Testall");
        if (done != 0) return true;
        const duration<double> waited = steady_clock::now() - begin;
        if (waited > longest) return false;
        if (waited < std::chrono::milliseconds(50)) {
            sched_yield();
        } else {
            usleep(500);
        }
    }
}

bool take_back(MPI_Request& request) {
    if (request == MPI_REQUEST_NULL) return false;
    check(PMPI_Cancel(&request), "MPI_Cancel");
    MPI_Status status;
    int cancelled = 0;
    check(PMPI_Wait(&request, &status), "MPI_Wait");
    check(PMPI_Test_cancelled(&status, &cancelled), "MPI_Test_cancelled");
    return cancelled != 0;
}

bool everyone_is_here() {
    const int size = comm::size_of(MPI_COMM_WORLD);
    const int tag = executor::largest_tag();
    return comm::rank_in(MPI_COMM_WORLD) == 0 ? hear_all(size, tag) : ask_rank_0(tag);
}

}  // namespace isochrone::mpi::preload
