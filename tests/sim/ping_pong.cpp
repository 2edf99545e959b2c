// SPDX-License-Identifier: BSD-3-Clause
//
// Half the round-trip time of every pair, each pair by itself: ping_pong BYTES FILE writes "low high seconds"
// lines.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

double half_rtt_s(int peer, bool first, std::vector<char>& buffer, int bytes) {
    double best_s = 1e9;
    for (int repetition = 0; repetition < 3; ++repetition) {
        const double start_s = MPI_Wtime();
        if (first)
            MPI_Send(buffer.data(), bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
        MPI_Recv(buffer.data(), bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!first)
            MPI_Send(buffer.data(), bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
        best_s = std::min(best_s, (MPI_Wtime() - start_s) / 2);
    }
    return best_s;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int bytes = std::atoi(argv[1]);
    std::vector<char> buffer(static_cast<std::size_t>(bytes) + 1);
    std::FILE* file = rank == 0 ? std::fopen(argv[2], "w") : nullptr;
    for (int low = 0; low < ranks; ++low) {
        for (int high = low + 1; high < ranks; ++high) {
            // The token goes on only after the pair is done, so that nothing else is under way.
            double seconds = 0;
            if (rank == low || rank == high)
                seconds = half_rtt_s(low + high - rank, rank == low, buffer, bytes);
            if (rank == low && low != 0)
                MPI_Send(&seconds, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
            if (rank == 0) {
                if (low != 0)
                    MPI_Recv(&seconds, 1, MPI_DOUBLE, low, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                std::fprintf(file, "%d %d %.17g\n", low, high, seconds);
            }
            MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        }
    }
    if (file != nullptr)
        std::fclose(file);
    MPI_Finalize();
    return 0;
}
