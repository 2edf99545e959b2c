// SPDX-License-Identifier: BSD-3-Clause
#include "record/profiler.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

#include "clock/clock.hpp"
#include "collectives/collective.hpp"
#include "comm/check.hpp"
#include "record/request.hpp"
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

/// What each rank has, on rank 0, where `all` has room for it. Collective.
void gather_one(double mine, std::vector<double>& all, MPI_Comm comm) {
    check(PMPI_Gather(&mine, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, 0, comm), "MPI_Gather");
}

void combine(std::vector<double>& values, MPI_Op op, MPI_Comm comm) {
    in_parts(static_cast<std::int64_t>(values.size()), [&](std::int64_t at, int count) {
        check(PMPI_Allreduce(MPI_IN_PLACE, values.data() + at, count, MPI_DOUBLE, op, comm), "MPI_Allreduce");
    });
}

}  // namespace

Profiler::Profiler()
    : machines_(world_.comm), clock_(clock::synchronise(world_.comm, machines_)), begin_s_(clock::now()) {}

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
    const auto thread = std::this_thread::get_id();
    if (here.calls == 0) here.thread = thread;
    here.has_several_threads |= here.thread != thread;
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

void Profiler::prepared(Untimed kind, const void* request) {
    const std::lock_guard lock(mutex_);
    prepared_[request_word(request)] = kind;
}

void Profiler::start(int count, const void* requests) {
    const std::lock_guard lock(mutex_);
    for (int index = 0; index < count; ++index) {
        const auto found = prepared_.find(request_word(requests, index));
        if (found != prepared_.end()) untimed(found->second);  // else a message
    }
}

void Profiler::forget(const void* request) {
    if (request == nullptr) return;
    const std::lock_guard lock(mutex_);
    prepared_.erase(request_word(request));
}

/// What is put together over all ranks, a cell for each row of the profile.
struct Profiler::Columns {
    std::vector<const Timed*> mine;  ///< nullptr where this rank made no such call
    std::vector<double> seconds;
    std::vector<double> slowest;
    std::vector<double> calls;
    std::vector<double> fewest;      ///< of the negative: both by one maximum
    std::vector<double> in_samples;  ///< two cells each: seconds, and what of these was waiting
    std::vector<double> bytes;
    // Of some rows at once, most_samples cells each; and of one.
    std::vector<double> came;
    std::vector<double> left;
    std::vector<double> spans;
};

/// The rows of all ranks and the groups that they are of, alike on all; of each group its first rank tells. A
/// row is four words: collective, group, root, and bits of the size. Their number comes first.
Words Profiler::all_rows() const {
    constexpr std::ptrdiff_t width = 4;
    Groups groups;
    Words rows;
    const auto make = [&] {
        const auto here = peers_.groups();
        Words words{0};
        for (const auto& [key, unused] : timed_) {
            if (here[key.where >> 32U]->front() != world_.rank) continue;
            ++words.front();
            words.insert(words.end(), {static_cast<std::int64_t>(key.what >> collective_shift),
                                       static_cast<std::int64_t>(key.where >> 32U),
                                       static_cast<std::int64_t>(key.where & 0xffffffffU),
                                       static_cast<std::int64_t>(key.what & 0xffU)});
        }
        Groups::append(words, here, world_.rank);
        return words;
    };
    const auto take = [&](const std::int64_t* next) {
        const std::size_t first = rows.size();
        const std::int64_t count = *next++;
        rows.insert(rows.end(), next, next + width * count);
        next += width * count;
        const auto number_of = groups.read(next);
        for (std::size_t at = first; at < rows.size(); at += width)
            rows[at + 1] = number_of[index(rows[at + 1])];
    };
    gather(world_, make, [&](std::int64_t words) { rows.reserve(index(words)); }, take);
    Words all;
    prepare_together(world_.comm, [&] {
        std::vector<const std::vector<int>*> numbered;
        for (const auto& ranks : groups.ranks) numbered.push_back(&ranks);
        all.push_back(static_cast<std::int64_t>(rows.size()) / width);
        all.insert(all.end(), rows.begin(), rows.end());
        Groups::append(all, numbered, Groups::anyone);
    });
    share(all, world_);
    return all;
}

/// Makes room for all that is put together; talks to nobody.
void Profiler::prepare(const Words& words, Profile& profile, Columns& columns) const {
    const std::int64_t* next = words.data();
    const std::size_t rows = index(*next++);
    const std::int64_t* const first = next;
    next += 4 * rows;
    Groups groups;
    groups.read(next);
    profile.groups = std::move(groups.ranks);
    columns.mine.resize(rows);
    columns.seconds.resize(rows);
    columns.calls.assign(rows, never);
    columns.fewest.assign(rows, never);
    columns.bytes.resize(rows);
    columns.in_samples.resize(2 * rows);
    columns.came.reserve(std::min(rows, rows_at_once) * most_samples);
    columns.left.reserve(columns.came.capacity());
    columns.spans.reserve(most_samples);
    std::vector<std::optional<int>> number_here(profile.groups.size());
    std::vector<bool> is_member(profile.groups.size());
    for (std::size_t group = 0; group < profile.groups.size(); ++group) {
        const auto& ranks = profile.groups[group];
        number_here[group] = peers_.known_group(ranks);
        is_member[group] = std::find(ranks.begin(), ranks.end(), world_.rank) != ranks.end();
    }
    for (std::size_t at = 0; at < rows; ++at) {
        const std::int64_t* row = first + 4 * at;
        const std::size_t group = index(row[1]);
        profile.rows.push_back({.collective = row[0], .group = row[1], .root = row[2]});
        // A rank that takes part in the group and made no such call.
        if (is_member[group]) columns.fewest[at] = 0;
        if (!number_here[group]) continue;
        const auto number = static_cast<std::uint64_t>(*number_here[group]);
        const auto found = timed_.find(
            {number << 32U | static_cast<std::uint64_t>(row[2]),
             static_cast<std::uint64_t>(row[0]) << collective_shift | static_cast<std::uint64_t>(row[3])});
        if (found == timed_.end()) continue;
        const Timed& mine = found->second;
        columns.mine[at] = &mine;
        columns.seconds[at] = mine.seconds;
        columns.calls[at] = static_cast<double>(mine.calls);
        columns.bytes[at] = static_cast<double>(mine.bytes);
        // Calls of several threads have no order that all ranks know.
        columns.fewest[at] = mine.has_several_threads ? 0 : -columns.calls[at];
    }
    columns.slowest = columns.seconds;
    const std::size_t ranks = world_.rank == 0 ? static_cast<std::size_t>(world_.size) : 0;
    for (auto* each : {&profile.rank_s, &profile.collectives_s, &profile.waiting_s}) each->resize(ranks);
}

Profile Profiler::gathered() {
    Profile profile;
    Columns columns;
    const double end_s = clock::now();
    const Words words = all_rows();
    prepare_together(world_.comm, [&] { prepare(words, profile, columns); });
    gather_one(end_s - begin_s_, profile.rank_s, world_.comm);
    double spent_s = 0;
    for (const auto& [key, timed] : timed_) spent_s += timed.seconds;
    gather_one(spent_s, profile.collectives_s, world_.comm);
    measure(profile, columns);
    std::array<std::int64_t, untimed_names.size()> counts{};
    for (std::size_t kind = 0; kind < counts.size(); ++kind) counts[kind] = untimed_[kind];
    check(PMPI_Reduce(counts.data(), profile.untimed.data(), static_cast<int>(counts.size()), MPI_INT64_T,
                      MPI_MAX, 0, world_.comm),
          "MPI_Reduce");
    return profile;
}

/// What is known of the rows when all ranks put together what they have. Takes no memory, see gather.hpp.
void Profiler::measure(Profile& profile, Columns& columns) {
    auto& [mine, seconds, slowest, calls, fewest, in_samples, bytes, came, left, spans] = columns;
    const double compared_s = clock::now();
    const clock::SyncedClock now = clock::synchronise(world_.comm, machines_);
    profile.sync_error_s = std::max(clock_.error_s(), now.error_s());
    // Clocks drift, for all that is known evenly.
    const double first = clock_.to_global(0);
    const double slope = (now.to_global(0) - first) / std::max(compared_s - begin_s_, 1e-9);
    const auto global = [&](double local_s) { return local_s + first + slope * (local_s - begin_s_); };

    const std::size_t rows = mine.size();
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
        came.assign((end - begin) * most_samples, never);
        left.assign(came.size(), never);
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
            spans.clear();
            for (std::size_t k = 0; k < most_samples && came[cell(row, k)] != never; ++k)
                spans.push_back(std::max(0.0, left[cell(row, k)] - came[cell(row, k)]));
            out.sampled = static_cast<std::int64_t>(spans.size());
            for (const double span : spans) out.operation_s += span / static_cast<double>(spans.size());
            if (!spans.empty()) out.operation_median_s = median(spans);
            in_samples[2 * row] = in_samples_s;
            in_samples[2 * row + 1] = waiting_s;
        }
    }
    combine(in_samples, MPI_SUM, world_.comm);
    combine(bytes, MPI_MAX, world_.comm);
    for (std::size_t row = 0; row < rows; ++row) {
        profile.rows[row].sampled_s = in_samples[2 * row];
        profile.rows[row].waiting_s = in_samples[2 * row + 1];
        profile.rows[row].bytes = static_cast<std::int64_t>(bytes[row]);
    }
    gather_one(waited_s, profile.waiting_s, world_.comm);
}

}  // namespace isochrone::mpi::record
