// SPDX-License-Identifier: BSD-3-Clause
#include "record/recorder.hpp"

#include <bit>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

#include "comm/check.hpp"
#include "record/gather.hpp"
#include "record/request.hpp"
#include "record/sizes.hpp"

namespace isochrone::mpi::record {
namespace {

using comm::check;
using core::collectives::Agreed;
using interpose::Part;
using preload::handle;

constexpr unsigned phase_shift = 32;
constexpr unsigned collective_shift = 16;
constexpr unsigned back_shift = 8;

/// Of a message, or of the peer's to this rank; `collective` as in Row.
Key row_key(int peer, std::int64_t bytes, bool back, std::int64_t collective) {
    const auto digits = static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(bytes)));
    return {static_cast<std::uint64_t>(peer), static_cast<std::uint64_t>(collective + 1) << collective_shift |
                                                  static_cast<std::uint64_t>(back) << back_shift | digits};
}

template <class Item>
void append(std::vector<std::int64_t>& words, const Item& item) {
    const auto at = words.size();
    words.resize(at + sizeof item / sizeof(std::int64_t));
    std::memcpy(words.data() + at, &item, sizeof item);
}

template <class Item>
Item take(const std::int64_t*& words) {
    Item item;
    std::memcpy(static_cast<void*>(&item), words, sizeof item);
    words += sizeof item / sizeof(std::int64_t);
    return item;
}

}  // namespace

Recorder::Recorder() : begin_(std::chrono::steady_clock::now()) {}

void Recorder::message(const Message& message, const void* request) {
    take(request, [&](auto&& emit) { read(message, emit); });
}

void Recorder::collective(const Call& call, const void* request) {
    take(request, [&](auto&& emit) { read(call, emit); });
}

void Recorder::neighbours(const Call& call, const void* request) {
    take(request, [&](auto&& emit) { read_neighbours(call, emit); });
}

template <class Read>
void Recorder::take(const void* request, Read&& read) {
    if (request == nullptr) {
        read([&](const Entry& entry) { add(entry); });
        return;
    }
    std::vector<Entry> entries;
    read([&](const Entry& entry) { entries.push_back(entry); });
    const std::lock_guard lock(mutex_);
    prepared_[request_word(request)] = std::move(entries);
}

template <class Emit>
void Recorder::read(const Message& message, Emit&& emit) {
    if (message.peer == MPI_PROC_NULL) return;
    const Peers& peers =
        message.window != 0 ? peers_.window(message.window) : peers_.communicator(message.comm);
    if (message.peer < 0 || static_cast<std::size_t>(message.peer) >= peers.world.size()) return;
    const int peer = peers.world[static_cast<std::size_t>(message.peer)];
    if (peer == MPI_UNDEFINED || peer == world_.rank) return;
    const auto leg = [&](const Leg& one, bool back) {
        if (one.count < 0) return;
        const std::int64_t bytes = bytes_of(one.count, one.type);
        emit(Entry{false, row_key(peer, bytes, back, -1), bytes});
    };
    // Then the origin's count and type may be anything.
    const bool only_gets = message.op != 0 && handle<MPI_Op>(message.op) == MPI_NO_OP;
    if (!only_gets) leg(message.out, false);
    leg(message.back, true);
}

template <class Emit>
void Recorder::read(const Call& call, Emit&& emit) {
    Peers& peers = peers_.communicator(call.comm);
    const int size = static_cast<int>(peers.world.size());
    if (peers.is_inter || peers.has_others || size < 2) return;
    if (call.collective->agreed == Agreed::nothing) {
        read_pieces(call, peers, emit);
        return;
    }
    if (peers.rank != 0) return;
    const std::int64_t bytes = agreed_bytes(call, size);
    const auto number = call.collective - core::collectives::all().data();
    Key key = row_key(0, bytes, false, number);
    key.where = static_cast<std::uint64_t>(peers_.group_of(peers)) << 32U |
                static_cast<std::uint64_t>(call.collective->rooted ? call.root : 0);
    emit(Entry{true, key, bytes});
}

/// Collectives of which each rank knows only what it sends itself. Nothing is sent where a block is empty.
template <class Emit>
void Recorder::read_pieces(const Call& call, const Peers& peers, Emit&& emit) {
    const auto number = call.collective - core::collectives::all().data();
    const auto piece = [&](int to, std::int64_t bytes) {
        const int peer = peers.world[static_cast<std::size_t>(to)];
        if (bytes > 0 && peer != world_.rank) emit(Entry{false, row_key(peer, bytes, false, number), bytes});
    };
    if (call.collective->is_exchange()) {
        const Part& part = call.input == MPI_IN_PLACE ? call.receive : call.send;
        for (int to = 0; to < static_cast<int>(peers.world.size()); ++to) {
            if (to != peers.rank) piece(to, block_bytes(part, to, call.large));
        }
    } else if (call.collective->input == core::collectives::Holds::own_block) {
        if (peers.rank != call.root) piece(call.root, bytes_of(call.send.count, call.send.type));
    } else if (peers.rank == call.root) {
        for (int to = 0; to < static_cast<int>(peers.world.size()); ++to) {
            if (to != peers.rank) piece(to, block_bytes(call.send, to, call.large));
        }
    }
}

template <class Emit>
void Recorder::read_neighbours(const Call& call, Emit&& emit) {
    const Peers& peers = peers_.communicator(call.comm);
    if (peers.is_inter) return;
    int index = 0;
    for (const int to : peers_.neighbours(call.comm)) {
        const int at = index++;
        if (to < 0 || static_cast<std::size_t>(to) >= peers.world.size()) continue;
        const int peer = peers.world[static_cast<std::size_t>(to)];
        if (peer == MPI_UNDEFINED || peer == world_.rank) continue;
        const std::int64_t bytes = block_bytes(call.send, at, call.large);
        emit(Entry{false, row_key(peer, bytes, false, -1), bytes});
    }
}

void Recorder::start(int count, const void* requests) {
    std::unique_lock lock(mutex_);
    for (int index = 0; index < count; ++index) {
        const auto found = prepared_.find(request_word(requests, index));
        if (found == prepared_.end()) continue;  // a receive
        for (Entry entry : found->second) {
            entry.key.what |= static_cast<std::uint64_t>(phase_.load(std::memory_order_relaxed))
                              << phase_shift;
            (entry.is_call ? calls_ : rows_).add(entry.key, 1, entry.bytes);
        }
    }
}

void Recorder::forget(const void* request) {
    if (request == nullptr) return;
    const std::lock_guard lock(mutex_);
    prepared_.erase(request_word(request));
}

void Recorder::add(const Entry& entry) {
    Key key = entry.key;
    key.what |= static_cast<std::uint64_t>(phase_.load(std::memory_order_relaxed)) << phase_shift;
    std::unique_lock lock(mutex_, std::defer_lock);
    if (world_.threads) lock.lock();
    (entry.is_call ? calls_ : rows_).add(key, 1, entry.bytes);
}

/// Rows and calls, each with their number before them, and groups.
std::vector<std::int64_t> Recorder::as_words() const {
    std::vector<std::int64_t> words;
    words.reserve(6 * (rows_.size() + calls_.size()) + 3);
    words.push_back(static_cast<std::int64_t>(rows_.size()));
    rows_.each([&](const Count& count) {
        const std::uint64_t what = count.key.what;
        Row row{.phase = static_cast<std::int64_t>(what >> phase_shift),
                .collective = static_cast<std::int64_t>(what >> collective_shift & 0xffffU) - 1,
                .source = world_.rank,
                .target = static_cast<std::int64_t>(count.key.where),
                .messages = count.times,
                .bytes = count.bytes};
        if ((what >> back_shift & 1U) != 0) std::swap(row.source, row.target);
        append(words, row);
    });
    words.push_back(static_cast<std::int64_t>(calls_.size()));
    calls_.each([&](const Count& count) {
        const std::uint64_t what = count.key.what;
        append(words, Calls{.phase = static_cast<std::int64_t>(what >> phase_shift),
                            .collective = static_cast<std::int64_t>(what >> collective_shift & 0xffffU) - 1,
                            .group = static_cast<std::int64_t>(count.key.where >> 32U),
                            .root = static_cast<std::int64_t>(count.key.where & 0xffffffffU),
                            .calls = count.times,
                            .bytes = count.bytes});
    });
    Groups::append(words, peers_.groups(), world_.rank);
    return words;
}

Record Recorder::gathered() {
    const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - begin_;
    const double seconds = gone.count();
    Record record;
    check(PMPI_Reduce(&seconds, &record.seconds, 1, MPI_DOUBLE, MPI_MAX, 0, world_.comm), "MPI_Reduce");
    Groups groups;
    gather(
        world_, [&] { return as_words(); },
        [&](std::int64_t words) {
            record.rows.reserve(static_cast<std::size_t>(words) / (sizeof(Row) / sizeof(std::int64_t)));
        },
        [&](const std::int64_t* next) {
            for (std::int64_t left = *next++; left > 0; --left)
                record.rows.push_back(record::take<Row>(next));
            const std::size_t first = record.calls.size();
            for (std::int64_t left = *next++; left > 0; --left)
                record.calls.push_back(record::take<Calls>(next));
            const auto number_of = groups.read(next);
            for (std::size_t at = first; at < record.calls.size(); ++at)
                record.calls[at].group = number_of[static_cast<std::size_t>(record.calls[at].group)];
        });
    record.groups = std::move(groups.ranks);
    return record;
}

}  // namespace isochrone::mpi::record
