// SPDX-License-Identifier: BSD-3-Clause
#include "compose/exchange.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "schedule/builder.hpp"

namespace isochrone::core::compose {
namespace {

using algorithms::Group;
using algorithms::Pairs;
using Ranks = std::vector<int>;  // ascending

/// What one part sends out and takes in.
struct Traffic {
    Pairs leaving;
    Pairs entering;
};

Ranks without(const Ranks& all, const Ranks& some) {
    Ranks result;
    std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(result));
    return result;
}

class Exchange {
  public:
    Exchange(schedule::Builder& builder, const std::vector<Exchanged>& tiers, bool equal, bool in_place)
        : builder_(builder),
          tiers_(tiers),
          equal_(equal),
          in_place_(in_place),
          all_(static_cast<std::size_t>(builder.size())) {
        std::iota(all_.begin(), all_.end(), 0);
        for (const auto& tier : tiers_) outside_.push_back(without(all_, tier.group.all()));
    }

    void append() {
        open_own_rank();
        for (std::size_t inner = 0; inner < tiers_.size(); ++inner) learn_counts(inner);
        for (std::size_t inner = 0; inner < traffic_.size(); ++inner) open_buffers(inner);
        for (std::size_t inner = 0; inner < tiers_.size(); ++inner) collect_and_exchange(inner);
        for (std::size_t inner = tiers_.size(); inner-- > 0;) distribute(inner);
    }

  private:
    [[nodiscard]] std::size_t index(std::size_t inner) const { return tiers_.size() - 1 - inner; }
    [[nodiscard]] const Group& group(std::size_t inner) const { return tiers_[index(inner)].group; }
    [[nodiscard]] const Ranks& outside(std::size_t inner) const { return outside_[index(inner)]; }
    /// Whether this rank leads the whole group and something lies outside of it.
    [[nodiscard]] bool leads_out(std::size_t inner) const { return inner + 1 < traffic_.size(); }

    int table(int count, int first) {
        std::vector<int> arguments(static_cast<std::size_t>(count), equal_ ? 0 : -1);
        if (!equal_ && first >= 0) std::iota(arguments.begin(), arguments.end(), first);
        return builder_.counts(std::move(arguments));
    }

    /// A rank by itself: its blocks are the caller's buffers, its counts the caller's.
    void open_own_rank() {
        const int size = builder_.size();
        const int me = builder_.rank();
        const std::array own_rank{me};
        Traffic own{Pairs({me}, all_), Pairs(all_, {me})};
        own.leaving.table = table(size, 0);
        own.entering.table = table(size, size);
        own.leaving.partition = builder_.counted(own.leaving.table);
        own.entering.partition = builder_.counted(own.entering.table);
        own.leaving.buffer = schedule::input_buffer;
        own.entering.buffer = schedule::output_buffer;
        if (in_place_) {
            // What leaves is where that is to be which enters, and as long.
            own.leaving.buffer = builder_.scratch_counted(own.leaving.partition);
            builder_.copy(builder_.blocks(schedule::output_buffer, own.entering.partition, 0, size),
                          builder_.blocks(own.leaving.buffer, own.leaving.partition, 0, size));
        } else {
            builder_.copy(own.leaving.of(builder_, own_rank, own_rank),
                          own.entering.of(builder_, own_rank, own_rank));
        }
        traffic_.push_back(std::move(own));
    }

    /// The leader of a group learns the lengths of all that will leave and enter it.
    void learn_counts(std::size_t inner) {
        const Group& g = group(inner);
        if (outside(inner).empty()) return;
        const Ranks inside = g.all();
        const auto own_part = g.part_at(g.relative());
        if (g.me == g.root) {
            Traffic whole{Pairs(inside, outside(inner)), Pairs(outside(inner), inside)};
            whole.leaving.table = table(whole.leaving.count(), -1);
            whole.entering.table = table(whole.entering.count(), -1);
            traffic_.push_back(std::move(whole));
        }
        if (equal_) return;
        const Traffic& mine = traffic_[inner];
        const auto leaving = mine.leaving.lengths_of(builder_, own_part, outside(inner));
        const auto entering = mine.entering.lengths_of(builder_, outside(inner), own_part);
        if (g.me != g.root) {
            builder_.send(g.rank_at(0), leaving);
            builder_.send(g.rank_at(0), entering);
            return;
        }
        const Traffic& whole = traffic_.back();
        for (int position = 0; position < g.size(); ++position) {
            const auto members = g.part_at(position);
            const auto out = whole.leaving.lengths_of(builder_, members, outside(inner));
            const auto in = whole.entering.lengths_of(builder_, outside(inner), members);
            if (position == g.relative()) {
                builder_.copy(leaving, out);
                builder_.copy(entering, in);
            } else {
                builder_.recv(g.rank_at(position), out);
                builder_.recv(g.rank_at(position), in);
            }
        }
    }

    void open_buffers(std::size_t inner) {
        for (Pairs* blocks : {&traffic_[inner].leaving, &traffic_[inner].entering}) {
            if (blocks->buffer >= 0) continue;
            blocks->partition = builder_.counted(blocks->table);
            blocks->buffer = builder_.scratch_counted(blocks->partition);
        }
    }

    void collect_and_exchange(std::size_t inner) {
        const Group& g = group(inner);
        const Traffic& mine = traffic_[inner];
        const auto own_part = g.part_at(g.relative());
        if (!outside(inner).empty() && g.me != g.root) {
            builder_.send(g.rank_at(0), mine.leaving.of(builder_, own_part, outside(inner)));
        }
        if (leads_out(inner)) {
            const Pairs& whole = traffic_[inner + 1].leaving;
            builder_.copy(mine.leaving.of(builder_, own_part, outside(inner)),
                          whole.of(builder_, own_part, outside(inner)));
            for (int position = 1; position < g.size(); ++position) {
                builder_.recv(g.rank_at(position), whole.of(builder_, g.part_at(position), outside(inner)));
            }
        }
        algorithms::Data data;
        data.leaving = mine.leaving;
        data.entering = mine.entering;
        tiers_[index(inner)].append(builder_, g, data, tiers_[index(inner)].parameter);
    }

    void distribute(std::size_t inner) {
        const Group& g = group(inner);
        const Traffic& mine = traffic_[inner];
        if (outside(inner).empty()) return;
        const auto own_part = g.part_at(g.relative());
        if (g.me != g.root) {
            builder_.recv(g.rank_at(0), mine.entering.of(builder_, outside(inner), own_part));
            return;
        }
        const Pairs& whole = traffic_[inner + 1].entering;
        for (int position = 1; position < g.size(); ++position) {
            builder_.send(g.rank_at(position), whole.of(builder_, outside(inner), g.part_at(position)));
        }
        builder_.copy(whole.of(builder_, outside(inner), own_part),
                      mine.entering.of(builder_, outside(inner), own_part));
    }

    schedule::Builder& builder_;
    const std::vector<Exchanged>& tiers_;
    bool equal_;
    bool in_place_;
    Ranks all_;
    std::vector<Ranks> outside_;    // of each tier's group
    std::vector<Traffic> traffic_;  // of this rank's part at each tier, innermost first
};

}  // namespace

void exchange(schedule::Builder& builder, const std::vector<Exchanged>& tiers, bool equal, bool in_place) {
    Exchange(builder, tiers, equal, in_place).append();
}

}  // namespace isochrone::core::compose
