// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/blocks.hpp"
#include "preload/word.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace isochrone::mpi::interpose {

using preload::handle;

using core::collectives::Agreed;
using core::collectives::Collective;
using core::collectives::Holds;

namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// An array of the program's, of int or, in calls with large counts, of 64 bits.
std::vector<std::int64_t> read_array(const void* array, int length, bool large) {
    std::vector<std::int64_t> result(at(length));
    for (int i = 0; i < length; ++i) {
        result[at(i)] =
            large ? static_cast<const std::int64_t*>(array)[i] : static_cast<const int*>(array)[i];
    }
    return result;
}

/// Fills in a side whose blocks have datatypes of their own. False: the library's own would refuse it.
bool read_mixed(const Call& call, const Part& part, Types& types, Side& side) {
    if (part.counts == nullptr || part.displacements == nullptr) return false;
    const auto counts = read_array(part.counts, side.blocks, call.large);
    const auto places = read_array(part.displacements, side.blocks, call.large);
    std::int64_t all = 0;
    for (int block = 0; block < side.blocks; ++block) {
        Elements one{.place = places[at(block)],
                     .count = counts[at(block)],
                     .datatype = static_cast<const MPI_Datatype*>(part.types)[block]};
        if (one.count < 0) return false;
        if (one.count > 0) {
            if (one.datatype == MPI_DATATYPE_NULL) return false;
            one.type = types.find(static_cast<char*>(side.buffer) + one.place, one.count, one.datatype);
            std::int64_t bytes = 0;
            if (one.type == nullptr || __builtin_mul_overflow(one.count, one.type->size, &bytes) ||
                __builtin_add_overflow(all, bytes, &all))
                return false;
        }
        side.mixed.push_back(one);
    }
    return true;
}

/// Fills in one side. False: the library's own would refuse it. `listed`: blocks have counts of their own.
bool read_side(const Call& call, const Part& part, void* buffer, int blocks, bool listed, Types& types,
               Side& side) {
    side.is_used = true;
    side.buffer = buffer;
    side.blocks = blocks;
    if (part.types != nullptr) return read_mixed(call, part, types, side);
    if (part.type == 0) return false;  // no list of types
    side.datatype = handle<MPI_Datatype>(part.type);
    side.count = part.count;
    if (side.datatype == MPI_DATATYPE_NULL || part.count < 0) return false;
    std::int64_t elements = part.count * blocks;
    if (listed) {
        if (part.counts == nullptr) return false;
        if (part.displacements == nullptr && !call.collective->reduces) return false;
        side.counts = read_array(part.counts, blocks, call.large);
        if (std::any_of(side.counts.begin(), side.counts.end(), [](std::int64_t count) { return count < 0; }))
            return false;
        if (part.displacements != nullptr)
            side.displacements = read_array(part.displacements, blocks, call.large);
        elements = std::accumulate(side.counts.begin(), side.counts.end(), std::int64_t{0});
    }
    // Where there is nothing, there may be no buffer; and displacements may be addresses, from MPI_BOTTOM.
    char nothing = 0;
    const auto& places = side.displacements;
    const bool has_places = std::any_of(places.begin(), places.end(), [](auto place) { return place != 0; });
    const bool is_somewhere = buffer != nullptr || (elements > 0 && !has_places);
    side.type = types.find(is_somewhere ? buffer : &nothing, elements, side.datatype);
    std::int64_t bytes = 0;
    return side.type != nullptr && !__builtin_mul_overflow(elements, side.type->size, &bytes);
}

}  // namespace

Elements Side::elements(int block) const {
    if (!mixed.empty()) return mixed[at(block)];
    const std::int64_t here = counts.empty() ? count : counts[at(block)];
    const std::int64_t first = displacements.empty() ? block * here : displacements[at(block)];
    return {.place = first * type->extent, .count = here, .datatype = datatype, .type = type};
}

std::int64_t Side::bytes() const {
    if (!mixed.empty()) {
        return std::accumulate(mixed.begin(), mixed.end(), std::int64_t{0},
                               [](std::int64_t sum, const Elements& one) { return sum + one.bytes(); });
    }
    if (counts.empty()) return count * blocks * type->size;
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) * type->size;
}

bool Side::is_dense() const {
    if (mixed.empty()) return type->dense && type->extent == type->size;
    return std::all_of(mixed.begin(), mixed.end(), [](const Elements& one) { return one.is_dense(); });
}

std::int64_t Side::begin() const {
    if (mixed.empty()) return type->begin;
    const auto first =
        std::find_if(mixed.begin(), mixed.end(), [](const Elements& one) { return one.bytes() > 0; });
    return first == mixed.end() ? 0 : first->place + first->type->begin;
}

std::vector<std::int64_t> Side::starts() const {
    if (counts.empty() && mixed.empty()) return {};
    std::vector<std::int64_t> result(at(blocks));
    const std::int64_t origin = begin();
    bool follow = true;
    std::int64_t next = 0;
    for (int block = 0; block < blocks; ++block) {
        const Elements one = elements(block);
        if (one.bytes() == 0) continue;
        result[at(block)] = one.place + one.type->begin - origin;
        follow = follow && result[at(block)] == next;
        next += one.bytes();
    }
    return follow ? std::vector<std::int64_t>() : result;
}

std::optional<BlocksCall> BlocksCall::read(const Call& call, int rank, int size, Types& types) {
    const Collective& collective = *call.collective;
    const bool is_root = !collective.rooted || rank == call.root;
    const bool has_input = collective.has_input(is_root);
    const bool has_output = collective.has_output(is_root);
    // Only a scatter's output may be in place; of all others it is the input.
    const bool is_scatter = collective.rooted && collective.output == Holds::own_block;
    const bool input_in_place = has_input && call.input == MPI_IN_PLACE;
    const bool output_in_place = has_output && call.output == MPI_IN_PLACE;
    if ((input_in_place && (is_scatter || !is_root)) || (output_in_place && (!is_scatter || !is_root)))
        return {};
    BlocksCall result;
    result.in_place = input_in_place || output_in_place;
    const auto blocks = [&](Holds holds) { return holds == Holds::all_blocks ? size : 1; };
    const auto listed = [&](Holds holds) {
        return holds == Holds::all_blocks && collective.has_uneven_blocks();
    };
    if (collective.reduces) {
        // One list of counts: of what all combine, and of what each has of it.
        void* const from = input_in_place ? call.output : const_cast<void*>(call.input);
        if (!read_side(call, call.send, from, size, listed(collective.input), types, result.input)) return {};
        Part own{.count = call.send.count, .type = call.send.type};
        if (!result.input.counts.empty()) own.count = result.input.counts[at(rank)];
        if (!read_side(call, own, call.output, 1, false, types, result.output)) return {};
        return result;
    }
    if (has_input && !input_in_place &&
        !read_side(call, call.send, const_cast<void*>(call.input), blocks(collective.input),
                   listed(collective.input), types, result.input))
        return {};
    if (has_output && !output_in_place &&
        !read_side(call, call.receive, call.output, blocks(collective.output), listed(collective.output),
                   types, result.output))
        return {};
    return result;
}

bool BlocksCall::is_dense() const {
    const Type& type = *input.type;
    return type.dense && type.begin == 0 && type.extent == type.size;
}

std::int64_t BlocksCall::agreed_bytes(const Collective& collective) const {
    if (collective.agreed == Agreed::nothing) return 0;
    if (collective.agreed == Agreed::block) return (output.is_used ? output : input).block_bytes(0);
    // All ranks have the list of those that are sent, or received.
    const Side& all = collective.output == Holds::all_blocks ? output : input;
    // Rounded up: what holds anything has a size.
    return (all.bytes() + all.blocks - 1) / all.blocks;
}

/// Calls act(block's address in the program's memory, its elements, offset in the copy, number).
template <class Act>
void PackedSide::each_block(Act&& act) {
    std::int64_t offset = 0;
    for (int block = 0; block < side_.blocks; ++block) {
        const Elements one = side_.elements(block);
        if (one.bytes() > 0) act(static_cast<char*>(side_.buffer) + one.place, one, offset, block);
        offset += one.bytes();
    }
}

PackedSide::PackedSide(const Side& side, Self& self, int rank, Fill fill, bool contiguous, bool copy)
    : side_(side), self_(self) {
    if (!side.is_used || side.bytes() == 0) return;
    if (!copy && side.is_dense() && (!contiguous || side.starts().empty())) return;
    if (!copy && side.counts.empty() && side.mixed.empty()) {
        whole_.emplace(side.buffer, side.count * side.blocks, side.datatype, *side.type, self,
                       fill != Fill::none);
        return;
    }
    copy_ = std::make_unique_for_overwrite<char[]>(at(side.bytes()));
    if (fill == Fill::none) return;
    each_block([&](char* address, const Elements& one, std::int64_t offset, int block) {
        if (fill == Fill::own && block != rank) return;
        Packed packed(address, one.count, one.datatype, *one.type, self, true);
        std::memcpy(copy_.get() + offset, packed.data(), at(one.bytes()));
    });
}

void* PackedSide::data() {
    if (copy_) return copy_.get();
    if (whole_) return whole_->data();
    return side_.is_used && side_.bytes() > 0 ? static_cast<char*>(side_.buffer) + side_.begin() : nullptr;
}

std::vector<std::int64_t> PackedSide::displacements() const {
    if (copy_ || whole_ || !side_.is_used) return {};
    return side_.starts();
}

void PackedSide::unpack() {
    if (whole_) whole_->unpack();
    if (!copy_) return;
    each_block([&](char* address, const Elements& one, std::int64_t offset, int) {
        Packed packed(address, one.count, one.datatype, *one.type, self_, false);
        std::memcpy(packed.data(), copy_.get() + offset, at(one.bytes()));
        packed.unpack();
    });
}

void PackedSide::abandon() {
    if (whole_) whole_->abandon();
    static_cast<void>(copy_.release());
}

namespace {

/// Whether two sides without gaps have bytes in common.
bool overlap(const Side& a, const Side& b) {
    const auto begin_a = reinterpret_cast<std::uintptr_t>(a.buffer);
    const auto begin_b = reinterpret_cast<std::uintptr_t>(b.buffer);
    return begin_a < begin_b + at(b.bytes()) && begin_b < begin_a + at(a.bytes());
}

/// The sizes of a call as collectives::extents gives them, in units of so many bytes.
core::schedule::Extents sizes_of(const Collective& collective, const BlocksCall& blocks, bool is_root,
                                 int rank, std::int64_t unit) {
    core::schedule::Extents result{.counts = {}, .input_displacements = {}, .output_displacements = {}};
    const Side& in = blocks.input;
    const Side& out = blocks.output;
    if (collective.agreed == Agreed::block) {
        const Side& some = out.is_used ? out : in;
        result.counts = {some.block_bytes(0) / unit};
    } else {
        // What is in place is as long as its place.
        const auto add = [&](Holds holds, const Side& side, const Side& place) {
            const Side& known = side.is_used ? side : place;
            if (holds == Holds::own_block) {
                result.counts.push_back(known.block_bytes(known.blocks == 1 ? 0 : rank) / unit);
            } else {
                for (int block = 0; block < known.blocks; ++block)
                    result.counts.push_back(known.block_bytes(block) / unit);
            }
        };
        if (collective.has_input(is_root)) add(collective.input, in, out);
        if (collective.has_output(is_root)) add(collective.output, out, in);
    }
    const Side& all = collective.output == Holds::all_blocks ? out : in;
    if (all.is_used) result.total = all.bytes() / unit;
    return result;
}

}  // namespace

void run_blocks(executor::Dispatcher& dispatcher, const executor::Dispatcher::Decision& decision,
                const Call& call, const BlocksCall& blocks, int rank, Self& self) {
    const Collective& collective = *call.collective;
    const bool is_root = !collective.rooted || rank == call.root;
    if (collective.reduces) {
        const Type& type = *blocks.input.type;
        // A program whose output lies in its input, though MPI does not allow it, has its input copied: what
        // is sent of that may still be under way when the result is written.
        std::unique_ptr<char[]> copy;
        if (!blocks.in_place && overlap(blocks.input, blocks.output)) {
            copy = std::make_unique_for_overwrite<char[]>(at(blocks.input.bytes()));
            std::memcpy(copy.get(), blocks.input.buffer, at(blocks.input.bytes()));
        }
        try {
            dispatcher.run(decision, call.root,
                           {.input = copy ? copy.get() : blocks.input.buffer,
                            .output = blocks.output.buffer,
                            .in_place = blocks.in_place,
                            .unit_bytes = type.size,
                            .datatype = blocks.input.datatype,
                            .op = handle<MPI_Op>(call.op)},
                           sizes_of(collective, blocks, is_root, rank, type.size));
        } catch (...) {
            static_cast<void>(copy.release());  // messages that failed may still be on their way from it
            throw;
        }
        return;
    }
    // A program that names one buffer twice, though MPI does not allow it, has its input copied.
    const bool is_one_buffer =
        blocks.input.is_used && blocks.output.is_used && blocks.input.buffer == blocks.output.buffer;
    using Fill = PackedSide::Fill;
    const Fill kept = !blocks.in_place ? Fill::none : collective.is_exchange() ? Fill::all : Fill::own;
    // What a broadcast brings is one message.
    const bool is_message = collective.down == core::algorithms::bcast_table;
    PackedSide input(blocks.input, self, rank, Fill::all, false, is_one_buffer);
    PackedSide output(blocks.output, self, rank, kept, is_message);
    try {
        auto sizes = sizes_of(collective, blocks, is_root, rank, 1);
        sizes.input_displacements = input.displacements();
        sizes.output_displacements = output.displacements();
        dispatcher.run(decision, call.root,
                       {.input = input.data(), .output = output.data(), .in_place = blocks.in_place},
                       std::move(sizes));
    } catch (...) {
        input.abandon();
        output.abandon();
        throw;
    }
    output.unpack();
}

}  // namespace isochrone::mpi::interpose
