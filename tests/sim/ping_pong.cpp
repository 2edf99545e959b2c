// SPDX-License-Identifier: BSD-3-Clause
//
// Half the round-trip time of pairs: ping_pong BYTES FILE [together|burst] writes "low high seconds" lines.
// Every pair by itself, or, together, the first half of the ranks with the second half. Burst: rank 0 sends
// some to the last rank, and then one to rank 1; "number rank seconds" are when each is there.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

double half_rtt_s(int peer, bool first, std::vector<char>& buffer, int bytes) {
    double best_s = 1e9;
    for (int repetition = 0; repetition < 3; ++repetition) {
        const double start_s = MPI_Wtime();
        if (first) MPI_Send(buffer.data(), bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
        MPI_Recv(buffer.data(), bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!first) MPI_Send(buffer.data(), bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
        best_s = std::min(best_s, (MPI_Wtime() - start_s) / 2);
    }
    return best_s;
}

void one_by_one(int rank, int ranks, int bytes, std::FILE* file) {
    std::vector<char> buffer(static_cast<std::size_t>(bytes) + 1);
    for (int low = 0; low < ranks; ++low) {
        for (int high = low + 1; high < ranks; ++high) {
            double seconds = 0;
            if (rank == low || rank == high)
                seconds = half_rtt_s(low + high - rank, rank == low, buffer, bytes);
            if (rank == low && low != 0) MPI_Send(&seconds, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
            if (rank == 0) {
                if (low != 0) MPI_Recv(&seconds, 1, MPI_DOUBLE, low, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                std::fprintf(file, "%d %d %.17g\n", low, high, seconds);
            }
            // The next pair starts only after this one is done, so that nothing else is under way.
            MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        }
    }
}

void together(int rank, int ranks, int bytes, std::FILE* file) {
    std::vector<char> buffer(static_cast<std::size_t>(bytes) + 1);
    const int half = ranks / 2;
    const bool first = rank < half;
    const double seconds = half_rtt_s(first ? rank + half : rank - half, first, buffer, bytes);
    std::vector<double> all(static_cast<std::size_t>(ranks));
    MPI_Gather(&seconds, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int low = 0; rank == 0 && low < half; ++low) {
        std::fprintf(file, "%d %d %.17g\n", low, low + half, all[static_cast<std::size_t>(low)]);
    }
}

void burst(int rank, int ranks, int bytes, std::FILE* file) {
    constexpr int messages = 6;
    const int last = ranks - 1;
    std::vector<char> buffer(static_cast<std::size_t>(bytes) + 1);
    double times_s[messages + 1] = {};  // when it began, or when each was there
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        times_s[0] = MPI_Wtime();
        MPI_Request requests[messages + 1];
        for (int number = 0; number <= messages; ++number) {
            MPI_Isend(buffer.data(), bytes, MPI_BYTE, number < messages ? last : 1, 0, MPI_COMM_WORLD,
                      &requests[number]);
        }
        MPI_Waitall(messages + 1, requests, MPI_STATUSES_IGNORE);
    } else if (rank == 1 || rank == last) {
        for (int number = 0; number < (rank == 1 ? 1 : messages); ++number) {
            MPI_Recv(buffer.data(), bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            times_s[number] = MPI_Wtime();
        }
    }
    std::vector<double> all(static_cast<std::size_t>(ranks) * (messages + 1));
    MPI_Gather(times_s, messages + 1, MPI_DOUBLE, all.data(), messages + 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int number = 0; rank == 0 && number <= messages; ++number) {
        const int to = number < messages ? last : 1;
        const double there_s = all[static_cast<std::size_t>(to * (messages + 1) + number % messages)];
        std::fprintf(file, "%d %d %.17g\n", number, to, there_s - all[0]);
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::FILE* file = rank == 0 ? std::fopen(argv[2], "w") : nullptr;
    if (rank == 0 && file == nullptr) {
        std::fprintf(stderr, "ping_pong: %s cannot be written\n", argv[2]);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    const std::string_view mode = argc > 3 ? argv[3] : "";
    (mode == "burst"      ? burst
     : mode == "together" ? together
                          : one_by_one)(rank, ranks, std::atoi(argv[1]), file);
    if (file != nullptr) std::fclose(file);
    MPI_Finalize();
    return 0;
}
