// SPDX-License-Identifier: BSD-3-Clause
#include "probe/all_pairs.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include "comm/check.hpp"
#include "comm/program.hpp"
#include "probe/pingpong.hpp"
#include "probe/rounds.hpp"

namespace isochrone::mpi::probe {

namespace {

constexpr double batch_s = 0.5;
constexpr int batch_pairs = 2048;

// A record on its way to rank 0: low, high, at_s, then the three lists. Ranks are exact in a double.
constexpr std::size_t leading_fields = 3;

void pack(const PairRecord& record, std::vector<double>& packed) {
    packed.insert(packed.end(),
                  {static_cast<double>(record.low), static_cast<double>(record.high), record.at_s});
    for (const auto* values :
         {&record.times.rtt_min_s, &record.times.rtt_median_s, &record.times.send_overhead_s}) {
        packed.insert(packed.end(), values->begin(), values->end());
    }
}

std::vector<PairRecord> unpack(const std::vector<double>& packed, std::size_t sizes) {
    std::vector<PairRecord> records;
    const std::size_t length = leading_fields + 3 * sizes;
    for (std::size_t start = 0; start + length <= packed.size(); start += length) {
        const double* const fields = packed.data() + start;
        const double* const times = fields + leading_fields;
        PairRecord record;
        record.low = static_cast<int>(fields[0]);
        record.high = static_cast<int>(fields[1]);
        record.at_s = fields[2];
        record.times.rtt_min_s.assign(times, times + sizes);
        record.times.rtt_median_s.assign(times + sizes, times + 2 * sizes);
        record.times.send_overhead_s.assign(times + 2 * sizes, times + 3 * sizes);
        records.push_back(std::move(record));
    }
    return records;
}

/// All ranks' values on rank 0, empty elsewhere.
std::vector<double> gather(MPI_Comm comm, const std::vector<double>& mine) {
    const bool root = comm::rank_in(comm) == 0;
    const auto size = static_cast<std::size_t>(comm::size_of(comm));
    const int count = static_cast<int>(mine.size());
    std::vector<int> counts(root ? size : 0);
    comm::check(MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm), "MPI_Gather");
    std::vector<int> offsets;
    int total = 0;
    for (const int length : counts) {
        offsets.push_back(total);
        total += length;
    }
    std::vector<double> all(static_cast<std::size_t>(total));
    comm::check(MPI_Gatherv(mine.data(), count, MPI_DOUBLE, all.data(), counts.data(), offsets.data(),
                            MPI_DOUBLE, 0, comm),
                "MPI_Gatherv");
    return all;
}

/// How many steps the next batch should have, after one of `steps` steps took `elapsed_s`. By MPI_Wtime, so
/// that a simulation repeats itself: there, seconds are long, and the number of pairs is the limit.
std::int64_t next_batch(std::int64_t steps, double elapsed_s, int hosts) {
    const std::int64_t limit = std::max(1, batch_pairs / ((hosts + 1) / 2));
    const double growth = elapsed_s > 0 ? std::clamp(batch_s / elapsed_s, 0.25, 4.0) : 4.0;
    return std::clamp(static_cast<std::int64_t>(static_cast<double>(steps) * growth), std::int64_t{1}, limit);
}

/// Numbers for the host names of the ranks.
std::vector<int> number_hosts(const std::vector<comm::Place>& places) {
    std::map<std::string, int> numbers;
    std::vector<int> host_of_rank;
    for (const comm::Place& place : places) {
        host_of_rank.push_back(
            numbers.try_emplace(place.host, static_cast<int>(numbers.size())).first->second);
    }
    return host_of_rank;
}

}  // namespace

int measure_all_pairs(MPI_Comm comm, const Options& options, const std::vector<comm::Place>& places,
                      const clock::Calibration& calibration, const clock::Occupancy& occupancy,
                      const PairSet& done, const Sink& sink) {
    const int rank = comm::rank_in(comm);
    const std::vector<int> host_of_rank = number_hosts(places);
    const int hosts = *std::max_element(host_of_rank.begin(), host_of_rank.end()) + 1;
    const Rounds rounds(host_of_rank, options.seed);
    PingPong ping_pong(comm, {options.sizes_bytes, options.repetitions, options.warmup},
                       calibration.overhead_s, occupancy);
    const double start_s = clock::now();

    std::int64_t batch = 1;
    for (std::int64_t first = 0; first < rounds.steps();) {
        const double batch_start_s = clock::now();
        const std::int64_t last = std::min(rounds.steps(), first + batch);
        std::vector<double> packed;
        for (const Turn& turn : rounds.turns(rank, first, last)) {
            const bool missing = !done.contains(turn.initiator, turn.responder);
            if (turn.responder == rank) {
                if (missing)
                    ping_pong.respond(turn.initiator);
                continue;
            }
            // Also a pair that an earlier run has measured takes its turn, so that tokens always come and go
            // alike.
            for (const Turn& earlier : rounds.before(turn)) {
                if (earlier.step >= first && earlier.initiator != rank)
                    ping_pong.await_token(earlier.initiator, turn.step);
            }
            if (missing) {
                PairTimes times = ping_pong.initiate(turn.responder);
                const double at_s = clock::now() - start_s;
                pack({std::min(rank, turn.responder), std::max(rank, turn.responder), at_s, std::move(times)},
                     packed);
            }
            for (const Turn& later : rounds.after(turn)) {
                if (later.step < last && later.initiator != rank)
                    ping_pong.send_token(later.initiator, later.step);
            }
        }
        ping_pong.rest();
        const std::vector<double> gathered = gather(comm, packed);
        std::array<std::int64_t, 2> verdict{comm::success, 1};  // exit code, and steps of the next batch
        if (rank == 0) {
            try {
                sink(unpack(gathered, options.sizes_bytes.size()));
            } catch (const comm::Failure& failure) {
                std::fprintf(stderr, "isochrone-probe: %s\n", failure.what());
                verdict[0] = failure.code();
            }
            verdict[1] = next_batch(batch, clock::now() - batch_start_s, hosts);
        }
        comm::check(MPI_Bcast(verdict.data(), 2, MPI_INT64_T, 0, comm), "MPI_Bcast");
        if (verdict[0] != comm::success)
            return static_cast<int>(verdict[0]);
        batch = verdict[1];
        first = last;
    }
    return comm::success;
}

}  // namespace isochrone::mpi::probe
