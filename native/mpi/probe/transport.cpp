// SPDX-License-Identifier: BSD-3-Clause
#include "probe/transport.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "comm/check.hpp"

namespace isochrone::mpi::probe {

namespace {

// A record: low, high, at_s, the four lists, and how many directions have parameters; then for each of those
// the rank that sent and how many sizes there are; then for each of those the size, the four numbers of its
// round trips, and three more. Parameters that the responder measured come by themselves, with a not-a-number
// for at_s and no lists.
constexpr std::size_t leading_fields = 3;
constexpr std::size_t parameter_fields = 8;

void pack(const Parameters& found, std::vector<double>& packed) {
    packed.insert(packed.end(),
                  {static_cast<double>(found.from), static_cast<double>(found.sizes_bytes.size())});
    for (std::size_t k = 0; k < found.sizes_bytes.size(); ++k) {
        packed.push_back(static_cast<double>(found.sizes_bytes[k]));
        packed.insert(packed.end(), found.rtt_s[k].begin(), found.rtt_s[k].end());
        packed.insert(packed.end(), {found.send_overhead_s[k], found.receive_overhead_s[k], found.gap_s[k]});
    }
}

Parameters unpack_parameters(const double*& next) {
    Parameters found;
    found.from = static_cast<int>(*next++);
    const auto sizes = static_cast<std::size_t>(*next++);
    for (std::size_t k = 0; k < sizes; ++k, next += parameter_fields) {
        found.sizes_bytes.push_back(static_cast<std::int64_t>(next[0]));
        found.rtt_s.push_back({next[1], next[2], next[3], next[4]});
        found.send_overhead_s.push_back(next[5]);
        found.receive_overhead_s.push_back(next[6]);
        found.gap_s.push_back(next[7]);
    }
    return found;
}

}  // namespace

void pack(const PairRecord& record, std::vector<double>& packed) {
    packed.insert(packed.end(),
                  {static_cast<double>(record.low), static_cast<double>(record.high), record.at_s});
    for (const auto* values :
         {&record.times.rtt_min_s, &record.times.rtt_median_s, &record.times.send_overhead_s}) {
        packed.insert(packed.end(), values->begin(), values->end());
    }
    packed.insert(packed.end(), record.times.repetitions.begin(), record.times.repetitions.end());
    packed.push_back(static_cast<double>(record.parameters.size()));
    for (const Parameters& found : record.parameters) pack(found, packed);
}

void pack(const Parameters& found, int initiator, std::vector<double>& packed) {
    const auto [low, high] = std::minmax(found.from, initiator);
    packed.insert(packed.end(), {static_cast<double>(low), static_cast<double>(high),
                                 std::numeric_limits<double>::quiet_NaN(), 1});
    pack(found, packed);
}

// Plain messages: MPI_Gatherv would need the counts first, and where it is made of as many requests as there
// are ranks (SimGrid's own), its time grows with their square.
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

std::vector<PairRecord> unpack(const std::vector<double>& packed, std::size_t sizes) {
    std::map<std::pair<int, int>, PairRecord> by_pair;
    const double* const end = packed.data() + packed.size();
    for (const double* next = packed.data(); next < end;) {
        const int low = static_cast<int>(next[0]);
        const int high = static_cast<int>(next[1]);
        PairRecord& record = by_pair[{low, high}];
        record.low = low;
        record.high = high;
        const double at_s = next[2];
        next += leading_fields;
        if (!std::isnan(at_s)) {
            record.at_s = at_s;
            record.times.rtt_min_s.assign(next, next + sizes);
            record.times.rtt_median_s.assign(next + sizes, next + 2 * sizes);
            record.times.send_overhead_s.assign(next + 2 * sizes, next + 3 * sizes);
            record.times.repetitions.assign(next + 3 * sizes, next + 4 * sizes);
            next += 4 * sizes;
        }
        for (auto more = static_cast<int>(*next++); more > 0; --more)
            record.parameters.push_back(unpack_parameters(next));
    }
    std::vector<PairRecord> records;
    for (auto& [pair, record] : by_pair) records.push_back(std::move(record));
    // They came rank by rank; the file is a record in time.
    std::sort(records.begin(), records.end(),
              [](const PairRecord& a, const PairRecord& b) { return a.at_s < b.at_s; });
    return records;
}

}  // namespace isochrone::mpi::probe
