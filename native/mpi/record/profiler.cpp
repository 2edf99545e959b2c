// SPDX-License-Identifier: BSD-3-Clause
#include "record/profiler.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <utility>

#include "clock/clock.hpp"
#include "collectives/collective.hpp"
#include "comm/check.hpp"
#include "record/sizes.hpp"

namespace isochrone::mpi::record {
namespace {

using comm::check;
using interpose::Call;

constexpr unsigned collective_shift = 8;
constexpr double never = -std::numeric_limits<double>::infinity();
/// Rows whose samples are looked at together, so that a rank needs little memory for those of others.
constexpr std::size_t rows_at_once = 64;

std::size_t index(std::int64_t number) { return static_cast<std::size_t>(number); }

double median(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// What rank 0 has, for all. Collective.
void share(std::vector<std::int64_t>& words, MPI_Comm comm) {
    auto length = static_cast<int>(words.size());
    check(PMPI_Bcast(&length, 1, MPI_INT, 0, comm), "MPI_Bcast");
    words.resize(static_cast<std::size_t>(length));
    check(PMPI_Bcast(words.data(), length, MPI_INT64_T, 0, comm), "MPI_Bcast");
}

/// The words of all ranks in a row, on rank 0. Collective.
std::vector<std::int64_t> collect(const std::vector<std::int64_t>& mine, int ranks, int rank, MPI_Comm comm) {
    const auto length = static_cast<int>(mine.size());
    std::vector<int> lengths(static_cast<std::size_t>(ranks));
    check(PMPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, comm), "MPI_Gather");
    std::vector<int> places(lengths.size());
    for (std::size_t at = 1; at < places.size(); ++at) places[at] = places[at - 1] + lengths[at - 1];
    std::vector<std::int64_t> all(
        rank == 0 ? static_cast<std::size_t>(places.back()) + static_cast<std::size_t>(lengths.back()) : 0);
    check(PMPI_Gatherv(mine.data(), length, MPI_INT64_T, all.data(), lengths.data(), places.data(),
                       MPI_INT64_T, 0, comm),
          "MPI_Gatherv");
    return all;
}

std::vector<double> gather_one(double mine, int ranks, MPI_Comm comm) {
    std::vector<double> all(static_cast<std::size_t>(ranks));
    check(PMPI_Gather(&mine, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, 0, comm), "MPI_Gather");
    return all;
}

void combine(std::vector<double>& values, MPI_Op op, MPI_Comm comm) {
    check(PMPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, op, comm),
          "MPI_Allreduce");
}

}  // namespace

Profiler::Profiler() : clock_(clock::synchronise(world_.comm)), begin_s_(clock::now()) {}

void Profiler::timed(const Call& call, double begin_s, double end_s) {
    Peers& peers = peers_.communicator(call.comm);
    const int size = static_cast<int>(peers.world.size());
    if (peers.is_inter || peers.has_others) {
        untimed(Untimed::between_groups);
        return;
    }
    if (size < 2) return;
    const bool agreed = call.collective->agreed != core::collectives::Agreed::nothing;
    const std::int64_t bytes = agreed ? agreed_bytes(call, size) : 0;
    const auto number = static_cast<std::uint64_t>(call.collective - core::collectives::all().data());
    const auto digits = static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(bytes)));
    const auto root = static_cast<std::uint64_t>(call.collective->rooted ? call.root : 0);
    const auto group = static_cast<std::uint64_t>(peers_.group_of(peers));
    std::unique_lock lock(mutex_, std::defer_lock);
    if (world_.threads) lock.lock();
    Timed& here = timed_[{group << 32U | root, number << collective_shift | digits}];
    const std::int64_t call_number = here.calls++;
    here.bytes += bytes;
    here.seconds += end_s - begin_s;
    if (call_number % here.every != 0) return;
    if (here.samples.size() == most_samples) {
        for (std::size_t at = 1; 2 * at < most_samples; ++at) here.samples[at] = here.samples[2 * at];
        here.samples.resize(most_samples / 2);
        here.every *= 2;
        if (call_number % here.every != 0) return;
    }
    here.samples.push_back({begin_s, end_s});
}

/// The rows of all ranks and their groups, alike on all: of each group its first rank tells. Rows are four
/// words each: collective, group, root, and bits of the size.
std::vector<std::int64_t> Profiler::all_rows(Profile& profile) const {
    std::vector<std::int64_t> mine;
    const auto groups = peers_.groups();
    for (const auto& [key, unused] : timed_) {
        const auto& ranks = *groups[key.where >> 32U];
        if (ranks.front() != world_.rank) continue;
        mine.insert(mine.end(),
                    {static_cast<std::int64_t>(key.what >> collective_shift),
                     static_cast<std::int64_t>(key.where & 0xffffffffU),
                     static_cast<std::int64_t>(key.what & 0xffU), static_cast<std::int64_t>(ranks.size())});
        mine.insert(mine.end(), ranks.begin(), ranks.end());
    }
    auto words = collect(mine, world_.size, world_.rank, world_.comm);
    share(words, world_.comm);
    std::vector<std::int64_t> rows;
    std::map<std::vector<int>, std::int64_t> numbers;
    for (const std::int64_t* next = words.data(); next < words.data() + words.size();) {
        std::vector<int> ranks(next + 4, next + 4 + next[3]);
        const auto [found, is_new] =
            numbers.try_emplace(std::move(ranks), static_cast<std::int64_t>(numbers.size()));
        if (is_new) profile.groups.push_back(found->first);
        rows.insert(rows.end(), {next[0], found->second, next[1], next[2]});
        next += 4 + next[3];
    }
    return rows;
}

Profile Profiler::gathered() {
    Profile profile;
    const double end_s = clock::now();
    const auto rows = all_rows(profile);
    std::vector<const Timed*> mine(rows.size() / 4, nullptr);
    for (std::size_t at = 0; at < mine.size(); ++at) {
        const std::int64_t* row = rows.data() + 4 * at;
        profile.rows.push_back({.collective = row[0], .group = row[1], .root = row[2]});
        const auto group = peers_.known_group(profile.groups[index(row[1])]);
        if (!group) continue;
        const auto number = static_cast<std::uint64_t>(*group);
        const auto found = timed_.find(
            {number << 32U | static_cast<std::uint64_t>(row[2]),
             static_cast<std::uint64_t>(row[0]) << collective_shift | static_cast<std::uint64_t>(row[3])});
        if (found != timed_.end()) mine[at] = &found->second;
    }
    profile.rank_s = gather_one(end_s - begin_s_, world_.size, world_.comm);
    double spent_s = 0;
    for (const auto& [key, timed] : timed_) spent_s += timed.seconds;
    profile.collectives_s = gather_one(spent_s, world_.size, world_.comm);
    measure(profile, mine);
    std::array<std::int64_t, untimed_names.size()> counts{};
    for (std::size_t kind = 0; kind < counts.size(); ++kind) counts[kind] = untimed_[kind];
    check(PMPI_Reduce(counts.data(), profile.untimed.data(), static_cast<int>(counts.size()), MPI_INT64_T,
                      MPI_MAX, 0, world_.comm),
          "MPI_Reduce");
    return profile;
}

/// What is known of the rows when all ranks put together what they have; `mine` is nullptr where this rank
/// took no part.
void Profiler::measure(Profile& profile, const std::vector<const Timed*>& mine) {
    const double compared_s = clock::now();
    const clock::SyncedClock now = clock::synchronise(world_.comm);
    profile.sync_error_s = std::max(clock_.error_s(), now.error_s());
    // Clocks drift, for all that is known evenly.
    const double first = clock_.to_global(0);
    const double slope = (now.to_global(0) - first) / std::max(compared_s - begin_s_, 1e-9);
    const auto global = [&](double local_s) { return local_s + first + slope * (local_s - begin_s_); };

    const std::size_t rows = mine.size();
    std::vector<double> seconds(rows);
    std::vector<double> calls(rows, never);
    std::vector<double> fewest(rows, never);  // of the negative: both by one maximum
    for (std::size_t row = 0; row < rows; ++row) {
        if (mine[row] == nullptr) continue;
        seconds[row] = mine[row]->seconds;
        calls[row] = static_cast<double>(mine[row]->calls);
        // Calls of several threads have no order that all ranks know.
        fewest[row] = world_.threads ? 0 : -calls[row];
    }
    // A rank that took part in the group and made no such call.
    for (std::size_t row = 0; row < rows; ++row) {
        const auto& ranks = profile.groups[index(profile.rows[row].group)];
        if (mine[row] == nullptr && std::find(ranks.begin(), ranks.end(), world_.rank) != ranks.end())
            fewest[row] = 0;
    }
    auto slowest = seconds;
    combine(calls, MPI_MAX, world_.comm);
    combine(fewest, MPI_MAX, world_.comm);
    combine(slowest, MPI_MAX, world_.comm);
    combine(seconds, MPI_SUM, world_.comm);
    double waited_s = 0;
    for (std::size_t begin = 0; begin < rows; begin += rows_at_once) {
        const std::size_t end = std::min(rows, begin + rows_at_once);
        const auto cell = [&](std::size_t row, std::size_t sample) {
            return (row - begin) * most_samples + sample;
        };
        const auto is_known = [&](std::size_t row) { return calls[row] == -fewest[row]; };
        std::vector<double> came((end - begin) * most_samples, never);
        auto left = came;
        for (std::size_t row = begin; row < end; ++row) {
            if (mine[row] == nullptr || !is_known(row)) continue;
            for (std::size_t k = 0; k < mine[row]->samples.size(); ++k) {
                came[cell(row, k)] = global(mine[row]->samples[k].begin_s);
                left[cell(row, k)] = global(mine[row]->samples[k].end_s);
            }
        }
        combine(came, MPI_MAX, world_.comm);
        combine(left, MPI_MAX, world_.comm);
        for (std::size_t row = begin; row < end; ++row) {
            TimedCalls& out = profile.rows[row];
            out.calls = static_cast<std::int64_t>(calls[row]);
            out.seconds = seconds[row];
            out.slowest_s = slowest[row];
            double in_samples_s = 0;
            double waiting_s = 0;
            if (mine[row] != nullptr && is_known(row)) {
                for (std::size_t k = 0; k < mine[row]->samples.size(); ++k) {
                    const auto [begin_s, end_s] = mine[row]->samples[k];
                    in_samples_s += end_s - begin_s;
                    waiting_s += std::clamp(came[cell(row, k)] - global(begin_s), 0.0, end_s - begin_s);
                }
                if (in_samples_s > 0) waited_s += mine[row]->seconds * waiting_s / in_samples_s;
            }
            std::vector<double> spans;
            for (std::size_t k = 0; k < most_samples && came[cell(row, k)] != never; ++k)
                spans.push_back(std::max(0.0, left[cell(row, k)] - came[cell(row, k)]));
            out.sampled = static_cast<std::int64_t>(spans.size());
            for (const double span : spans) out.operation_s += span / static_cast<double>(spans.size());
            if (!spans.empty()) out.operation_median_s = median(spans);
            out.sampled_s = in_samples_s;
            out.waiting_s = waiting_s;
        }
    }
    std::vector<double> sums(2 * rows);
    std::vector<double> bytes(rows);
    for (std::size_t row = 0; row < rows; ++row) {
        sums[2 * row] = profile.rows[row].sampled_s;
        sums[2 * row + 1] = profile.rows[row].waiting_s;
        bytes[row] = mine[row] == nullptr ? 0 : static_cast<double>(mine[row]->bytes);
    }
    combine(sums, MPI_SUM, world_.comm);
    combine(bytes, MPI_MAX, world_.comm);
    for (std::size_t row = 0; row < rows; ++row) {
        profile.rows[row].sampled_s = sums[2 * row];
        profile.rows[row].waiting_s = sums[2 * row + 1];
        profile.rows[row].bytes = static_cast<std::int64_t>(bytes[row]);
    }
    profile.waiting_s = gather_one(waited_s, world_.size, world_.comm);
}

}  // namespace isochrone::mpi::record
