// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/alltoall/bruck.hpp"

#include <bit>
#include <map>

namespace isochrone::core::algorithms::alltoall {

namespace {

int count(const Group& group, int source, int destination) {
    return static_cast<int>(group.part_at(source).size() * group.part_at(destination).size());
}

/// The blocks that are under way over some offsets, one offset after the other.
class Packet {
  public:
    /// Room for the blocks of `offsets` that member `holder` has after they have gone `done` of their way.
    Packet(schedule::Builder& builder, const Group& group, const std::vector<int>& offsets, int holder,
           int done) {
        int units = 0;
        for (const int offset : offsets) {
            const int source = holder + group.size() - offset % done;
            first_[offset] = units;
            length_[offset] = count(group, source, source + offset);
            units += length_[offset];
        }
        partition_ = builder.counted(builder.counts(std::vector<int>(static_cast<std::size_t>(units), 0)));
        buffer_ = builder.scratch_counted(partition_);
        units_ = units;
    }
    [[nodiscard]] schedule::Slice all(schedule::Builder& builder) const {
        return builder.blocks(buffer_, partition_, 0, units_);
    }
    [[nodiscard]] schedule::Slice of(schedule::Builder& builder, int offset) const {
        return builder.blocks(buffer_, partition_, first_.at(offset), length_.at(offset));
    }

  private:
    std::map<int, int> first_;
    std::map<int, int> length_;
    int partition_ = -1;
    int buffer_ = -1;
    int units_ = 0;
};

}  // namespace

// What goes to the member `offset` after its own goes in as many hops as the offset has bits: in round k over
// 2^k members. So each member sends one packet a round, with all blocks whose offset has that bit.
void bruck(schedule::Builder& builder, const Group& group, Data& data, int /*parameter*/) {
    const int size = group.size();
    const int me = group.relative();
    std::vector<Packet> received;  // by round
    for (int hop = 1; hop < size; hop *= 2) {
        std::vector<int> offsets;
        for (int offset = hop; offset < size; ++offset) {
            if ((offset & hop) != 0) offsets.push_back(offset);
        }
        const Packet sent(builder, group, offsets, me, hop);
        for (const int offset : offsets) {
            const int before = offset & (hop - 1);
            const auto from =
                before == 0
                    ? data.leaving.of(builder, group.part_at(me), group.part_at(me + offset))
                    : received[static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(before)) - 1)]
                          .of(builder, offset);
            builder.copy(from, sent.of(builder, offset));
        }
        received.emplace_back(builder, group, offsets, me, 2 * hop);
        builder.send(group.rank_at(me + hop), sent.all(builder));
        builder.recv(group.rank_at(me + size - hop), received.back().all(builder));
        for (const int offset : offsets) {
            if (offset >= 2 * hop) continue;  // it goes on
            const int source = me + size - offset;
            builder.copy(received.back().of(builder, offset),
                         data.entering.of(builder, group.part_at(source), group.part_at(me)));
        }
    }
}

}  // namespace isochrone::core::algorithms::alltoall
