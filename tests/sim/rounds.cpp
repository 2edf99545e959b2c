// SPDX-License-Identifier: BSD-3-Clause
//
// Messages of a task graph again and again: rounds ROWS ROUNDS reads lines "source target bytes" and prints the
// seconds of all rounds on the slowest rank. In each round a rank receives and sends all of its messages, to
// the next ranks first, and waits for them.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    struct Row {
        int peer, bytes;
    };
    std::vector<Row> out, in;
    int most = 1;
    std::FILE* const file = std::fopen(argv[1], "r");
    for (int source, target, bytes; std::fscanf(file, "%d %d %d", &source, &target, &bytes) == 3;) {
        if (source == rank) out.push_back({target, bytes});
        if (target == rank) in.push_back({source, bytes});
        most = std::max(most, bytes);
    }
    std::fclose(file);
    std::sort(out.begin(), out.end(), [&](const Row& a, const Row& b) {
        return (a.peer - rank + ranks) % ranks < (b.peer - rank + ranks) % ranks;
    });
    std::vector<char> data(static_cast<std::size_t>(most));
    std::vector<std::vector<char>> received(in.size(), data);
    std::vector<MPI_Request> requests(in.size() + out.size());
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int round = 0; round < std::atoi(argv[2]); ++round) {
        MPI_Request* next = requests.data();
        for (std::size_t i = 0; i < in.size(); ++i)
            MPI_Irecv(received[i].data(), in[i].bytes, MPI_BYTE, in[i].peer, 0, MPI_COMM_WORLD, next++);
        for (const Row& row : out)
            MPI_Isend(data.data(), row.bytes, MPI_BYTE, row.peer, 0, MPI_COMM_WORLD, next++);
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    }
    double seconds = MPI_Wtime() - begin;
    double slowest = 0;
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("%.9f\n", slowest);
    MPI_Finalize();
}
