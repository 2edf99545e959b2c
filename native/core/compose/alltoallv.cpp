// SPDX-License-Identifier: BSD-3-Clause
#include "compose/alltoallv.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "compose/tiers.hpp"
#include "schedule/builder.hpp"

namespace isochrone::core::compose {
namespace {

using schedule::Slice;
using Ranks = std::vector<int>;  // ascending

/// The blocks (source, destination) that leave a part, or that enter it: a buffer, its partition and its
/// counts.
///
///   leaving  part {2,3} of 4 ranks:   2>0 2>1 3>0 3>1        by source, then destination
///   entering part {2,3} of 4 ranks:   0>2 0>3 1>2 1>3
///
/// A block travels in this order everywhere, so both ends of a message agree whatever else each of them
/// holds.
class Blocks {
  public:
    Blocks(Ranks sources, Ranks destinations)
        : sources_(std::move(sources)), destinations_(std::move(destinations)) {}

    [[nodiscard]] int count() const { return static_cast<int>(sources_.size() * destinations_.size()); }

    /// The numbers of the blocks from any of `sources` to any of `destinations`, as far as they are held
    /// here.
    [[nodiscard]] std::vector<int> select(const Ranks& sources, const Ranks& destinations) const {
        std::vector<int> result;
        for (std::size_t s = 0; s < sources_.size(); ++s) {
            if (!std::binary_search(sources.begin(), sources.end(), sources_[s])) continue;
            for (std::size_t d = 0; d < destinations_.size(); ++d) {
                if (!std::binary_search(destinations.begin(), destinations.end(), destinations_[d])) continue;
                result.push_back(static_cast<int>(s * destinations_.size() + d));
            }
        }
        return result;
    }

    int table = -1;
    int partition = -1;
    int buffer = -1;

  private:
    Ranks sources_;
    Ranks destinations_;
};

/// What one part sends out and takes in.
struct Traffic {
    Blocks leaving;
    Blocks entering;
};

Ranks without(const Ranks& all, const Ranks& some) {
    Ranks result;
    std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(result));
    return result;
}

class Exchange {
  public:
    Exchange(const place::Layout& layout, const std::vector<int>& levels, int rank)
        : builder_(layout.size, rank),
          tiers_(tiers(layout, levels, rank, 0)),
          rank_(rank),
          all_(iota(layout.size)) {}

    schedule::Schedule build() {
        open_own_rank();
        for (std::size_t inner = 0; inner < tiers_.size(); ++inner) learn_counts(inner);
        for (std::size_t inner = 0; inner < traffic_.size(); ++inner) open_buffers(inner);
        for (std::size_t inner = 0; inner < tiers_.size(); ++inner) collect_and_exchange(inner);
        for (std::size_t inner = tiers_.size(); inner-- > 0;) distribute(inner);
        return builder_.finish();
    }

  private:
    static Ranks iota(int size) {
        Ranks ranks(static_cast<std::size_t>(size));
        std::iota(ranks.begin(), ranks.end(), 0);
        return ranks;
    }
    [[nodiscard]] const Tier& tier(std::size_t inner) const { return tiers_[tiers_.size() - 1 - inner]; }
    [[nodiscard]] static Ranks whole(const Tier& tier) {
        Ranks ranks;
        for (const auto& part : tier.parts) ranks.insert(ranks.end(), part.begin(), part.end());
        std::sort(ranks.begin(), ranks.end());
        return ranks;
    }
    [[nodiscard]] static const Ranks& part(const Tier& tier, int position) {
        return tier.parts[static_cast<std::size_t>(position)];
    }
    /// Whether this rank leads the whole group and something lies outside of it.
    [[nodiscard]] bool leads_out(std::size_t inner) const { return inner + 1 < traffic_.size(); }

    /// A rank by itself: its blocks are the caller's buffers, its counts the caller's.
    void open_own_rank() {
        const int size = static_cast<int>(all_.size());
        Traffic own{Blocks({rank_}, all_), Blocks(all_, {rank_})};
        std::vector<int> received(all_.size());
        std::iota(received.begin(), received.end(), size);
        own.leaving.table = builder_.counts(all_);
        own.entering.table = builder_.counts(received);
        own.leaving.partition = builder_.counted(own.leaving.table);
        own.entering.partition = builder_.counted(own.entering.table);
        own.leaving.buffer = schedule::input_buffer;
        own.entering.buffer = schedule::output_buffer;
        builder_.copy(builder_.blocks(schedule::input_buffer, own.leaving.partition, rank_),
                      builder_.blocks(schedule::output_buffer, own.entering.partition, rank_));
        traffic_.push_back(std::move(own));
    }

    /// The leader of a group learns the lengths of all that will leave and enter it.
    void learn_counts(std::size_t inner) {
        const Tier& t = tier(inner);
        const Ranks inside = whole(t);
        const Ranks outside = without(all_, inside);
        if (outside.empty()) return;
        const Traffic& mine = traffic_[inner];
        const Ranks& own_part = part(t, t.group.me);
        const auto leaving = builder_.entries(mine.leaving.table, mine.leaving.select(own_part, outside));
        const auto entering = builder_.entries(mine.entering.table, mine.entering.select(outside, own_part));
        if (t.group.me != t.group.root) {
            builder_.send(t.group.rank_at(0), leaving);
            builder_.send(t.group.rank_at(0), entering);
            return;
        }
        Traffic group{Blocks(inside, outside), Blocks(outside, inside)};
        group.leaving.table =
            builder_.counts(std::vector<int>(static_cast<std::size_t>(group.leaving.count()), -1));
        group.entering.table =
            builder_.counts(std::vector<int>(static_cast<std::size_t>(group.entering.count()), -1));
        for (int position = 0; position < t.group.size(); ++position) {
            const Ranks& members = part(t, position);
            const auto out = builder_.entries(group.leaving.table, group.leaving.select(members, outside));
            const auto in = builder_.entries(group.entering.table, group.entering.select(outside, members));
            if (position == t.group.me) {
                builder_.copy(leaving, out);
                builder_.copy(entering, in);
            } else {
                builder_.recv(t.group.ranks[static_cast<std::size_t>(position)], out);
                builder_.recv(t.group.ranks[static_cast<std::size_t>(position)], in);
            }
        }
        traffic_.push_back(std::move(group));
    }

    void open_buffers(std::size_t inner) {
        for (Blocks* blocks : {&traffic_[inner].leaving, &traffic_[inner].entering}) {
            if (blocks->buffer >= 0) continue;
            blocks->partition = builder_.counted(blocks->table);
            blocks->buffer = builder_.scratch_counted(blocks->partition);
        }
    }

    [[nodiscard]] Slice slice(const Blocks& blocks, const Ranks& sources, const Ranks& destinations) {
        return builder_.blocks(blocks.buffer, blocks.partition, blocks.select(sources, destinations));
    }

    void collect_and_exchange(std::size_t inner) {
        const Tier& t = tier(inner);
        const Traffic& mine = traffic_[inner];
        const Ranks outside = without(all_, whole(t));
        const Ranks& own_part = part(t, t.group.me);
        if (!outside.empty() && t.group.me != t.group.root) {
            builder_.send(t.group.rank_at(0), slice(mine.leaving, own_part, outside));
        }
        // Each begins with its neighbour, so that no rank is everybody's first.
        for (int step = 0; step < t.group.size(); ++step) {
            const int position = (t.group.me + step) % t.group.size();
            const int peer = t.group.ranks[static_cast<std::size_t>(position)];
            const Ranks& theirs = part(t, position);
            if (leads_out(inner)) {
                const Blocks& group = traffic_[inner + 1].leaving;
                if (step == 0) {
                    builder_.copy(slice(mine.leaving, own_part, outside), slice(group, own_part, outside));
                } else {
                    builder_.recv(peer, slice(group, theirs, outside));
                }
            }
            if (step == 0) continue;
            builder_.send(peer, slice(mine.leaving, own_part, theirs));
            builder_.recv(peer, slice(mine.entering, theirs, own_part));
        }
    }

    void distribute(std::size_t inner) {
        const Tier& t = tier(inner);
        const Traffic& mine = traffic_[inner];
        const Ranks outside = without(all_, whole(t));
        if (outside.empty()) return;
        const Ranks& own_part = part(t, t.group.me);
        if (t.group.me != t.group.root) {
            builder_.recv(t.group.rank_at(0), slice(mine.entering, outside, own_part));
            return;
        }
        const Blocks& group = traffic_[inner + 1].entering;
        for (int position = 0; position < t.group.size(); ++position) {
            const Ranks& members = part(t, position);
            if (position == t.group.me) {
                builder_.copy(slice(group, outside, members), slice(mine.entering, outside, members));
            } else {
                builder_.send(t.group.ranks[static_cast<std::size_t>(position)],
                              slice(group, outside, members));
            }
        }
    }

    schedule::Builder builder_;
    std::vector<Tier> tiers_;  // outermost first
    int rank_;
    Ranks all_;
    std::vector<Traffic> traffic_;  // of this rank's part at each tier, innermost first
};

}  // namespace

schedule::Schedule hierarchical_alltoallv(const place::Layout& layout, const std::vector<int>& levels,
                                          int rank) {
    return Exchange(layout, levels, rank).build();
}

}  // namespace isochrone::core::compose
