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
    // They came rank by rank; the file is a record in time.
    std::sort(records.begin(), records.end(),
              [](const PairRecord& a, const PairRecord& b) { return a.at_s < b.at_s; });
    return records;
}

/// All ranks' values on rank 0, empty elsewhere. Plain messages: MPI_Gatherv would need the counts first, and
/// where it is made of as many requests as there are ranks (SimGrid's own), its time grows with their square.
std::vector<double> collect(MPI_Comm comm, std::vector<double> mine) {
    constexpr int tag = 0;
    const int ranks = comm::size_of(comm);
    if (comm::rank_in(comm) != 0) {
        const auto count = static_cast<std::int64_t>(mine.size());
        comm::check(MPI_Send(&count, 1, MPI_INT64_T, 0, tag, comm), "MPI_Send");
        if (count > 0) {
            comm::check(MPI_Send(mine.data(), static_cast<int>(count), MPI_DOUBLE, 0, tag, comm), "MPI_Send");
        }
        return {};
    }
    for (int rank = 1; rank < ranks; ++rank) {
        std::int64_t count = 0;
        comm::check(MPI_Recv(&count, 1, MPI_INT64_T, rank, tag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
        if (count == 0) {
            continue;
        }
        const std::size_t start = mine.size();
        mine.resize(start + static_cast<std::size_t>(count));
        comm::check(MPI_Recv(mine.data() + start, static_cast<int>(count), MPI_DOUBLE, rank, tag, comm,
                             MPI_STATUS_IGNORE),
                    "MPI_Recv");
    }
    return mine;
}

/// How many steps the next batch should have, after one of `steps` steps took `elapsed_s`. By MPI_Wtime, so
/// that a simulation repeats itself; its seconds hold many pairs, and there the number of pairs is the limit.
std::int64_t next_batch(std::int64_t steps, double elapsed_s, int hosts) {
    const std::int64_t limit = std::max(1, batch_pairs / ((hosts + 1) / 2));
    const double growth = elapsed_s > 0 ? std::clamp(batch_s / elapsed_s, 0.25, 4.0) : 4.0;
    return std::clamp(static_cast<std::int64_t>(static_cast<double>(steps) * growth), std::int64_t{1}, limit);
}

/// Labels as numbers from 0, in order of first appearance.
template <class Label>
std::vector<int> numbered(const std::vector<Label>& labels) {
    std::map<Label, int> numbers;
    std::vector<int> result;
    for (const Label& label : labels) {
        result.push_back(numbers.try_emplace(label, static_cast<int>(numbers.size())).first->second);
    }
    return result;
}

std::vector<int> number_hosts(const std::vector<comm::Place>& places) {
    std::vector<std::string> hosts;
    for (const comm::Place& place : places) hosts.push_back(place.host);
    return numbered(hosts);
}

/// The same for machines. Hosts that are one machine (namespaces, containers) take CPUs from each other where
/// there are fewer than ranks: then their pairs don't take turns at once either.
std::vector<int> number_machines(MPI_Comm comm, const clock::Occupancy& occupancy) {
    std::vector<int> machine_of_rank(static_cast<std::size_t>(comm::size_of(comm)));
    comm::check(MPI_Allgather(&occupancy.machine, 1, MPI_INT, machine_of_rank.data(), 1, MPI_INT, comm),
                "MPI_Allgather");
    return numbered(machine_of_rank);
}

/// What rank 0 lays down for the next batch.
struct Plan {
    int code = comm::success;  ///< another one: stop with it
    std::int64_t steps = 1;
    double at_s = 0;  ///< rank 0's time since the run started, which all count on from
};

Plan share(MPI_Comm comm, const Plan& plan) {
    std::array<double, 3> fields{static_cast<double>(plan.code), static_cast<double>(plan.steps), plan.at_s};
    comm::check(MPI_Bcast(fields.data(), static_cast<int>(fields.size()), MPI_DOUBLE, 0, comm), "MPI_Bcast");
    return {static_cast<int>(fields[0]), static_cast<std::int64_t>(fields[1]), fields[2]};
}

/// Takes this rank's turns in steps [first, last) and returns the records of those that it timed, packed.
std::vector<double> measure_batch(const Rounds& rounds, PingPong& ping_pong, const PairSet& done, int rank,
                                  std::int64_t first, std::int64_t last, double at_s) {
    const double start_s = clock::now();
    std::vector<double> packed;
    for (const Turn& turn : rounds.turns(rank, first, last)) {
        const bool missing = !done.contains(turn.initiator, turn.responder);
        if (turn.responder == rank) {
            if (missing) ping_pong.respond(turn.initiator);
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
            const auto [low, high] = std::minmax(rank, turn.responder);
            pack({low, high, at_s + (clock::now() - start_s), std::move(times)}, packed);
        }
        for (const Turn& later : rounds.after(turn)) {
            if (later.step < last && later.initiator != rank)
                ping_pong.send_token(later.initiator, later.step);
        }
    }
    return packed;
}

}  // namespace

int measure_all_pairs(MPI_Comm comm, const Options& options, const std::vector<comm::Place>& places,
                      const clock::Calibration& calibration, const clock::Occupancy& occupancy, bool crowded,
                      const PairSet& done, const Sink& sink) {
    const double start_s = clock::now();
    const int rank = comm::rank_in(comm);
    const std::vector<int> host_of_rank = crowded ? number_machines(comm, occupancy) : number_hosts(places);
    const int hosts = *std::max_element(host_of_rank.begin(), host_of_rank.end()) + 1;
    const Rounds rounds(host_of_rank, options.seed);
    PingPong ping_pong(comm, {options.sizes_bytes, options.repetitions, options.warmup, options.patience_s},
                       calibration.overhead_s, occupancy);
    Plan plan;
    for (std::int64_t first = 0;;) {
        plan.at_s = clock::now() - start_s;
        plan = share(comm, plan);
        if (plan.code != comm::success || first == rounds.steps()) return plan.code;
        const std::int64_t last = std::min(rounds.steps(), first + plan.steps);
        std::vector<double> packed = measure_batch(rounds, ping_pong, done, rank, first, last, plan.at_s);
        // In a crowd, ranks that are ready must not poll in MPI_Bcast while others measure. Else collecting
        // is enough.
        if (crowded) ping_pong.rest();
        packed = collect(comm, std::move(packed));
        if (rank == 0) {
            try {
                sink(unpack(packed, options.sizes_bytes.size()));
            } catch (const comm::Failure& failure) {
                std::fprintf(stderr, "isochrone-probe: %s\n", failure.what());
                plan.code = failure.code();
            }
            plan.steps = next_batch(plan.steps, clock::now() - start_s - plan.at_s, hosts);
        }
        first = last;
    }
}

}  // namespace isochrone::mpi::probe
