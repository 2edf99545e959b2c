// SPDX-License-Identifier: BSD-3-Clause
#include "compose/compose.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "compose/exchange.hpp"
#include "compose/mapping.hpp"
#include "compose/tiers.hpp"
#include "place/window.hpp"
#include "schedule/builder.hpp"

namespace isochrone::core::compose {
namespace {

using algorithms::Blocks;
using algorithms::Data;
using algorithms::Lengths;
using collectives::Agreed;
using collectives::Collective;
using collectives::Holds;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

class Composer {
  public:
    /// `order`: of the members of the outermost group, which is the same for all ranks. The first that needs
    /// it works it out.
    Composer(const Resolved& resolved, const place::Layout& layout, int rank, int root, bool in_place,
             std::vector<int>& order)
        : resolved_(resolved),
          collective_(*resolved.collective),
          layout_(layout),
          rank_(rank),
          root_(root),
          in_place_(in_place),
          is_root_(!collective_.rooted || rank == root),
          is_scan_(collective_.up == algorithms::scan_table),
          order_(order),
          builder_(layout.size, rank) {
        // In order, operands come together on the first rank, which passes the result on.
        passes_on_ = collective_.rooted && resolved.in_order && root != 0;
        top_ = passes_on_ ? 0 : root;
        // By then the last of a group has what all of it had.
        if (is_scan_) top_ = layout.size - 1;
        if (resolved.recipe.kind == Recipe::Kind::hierarchical) {
            tiers_ =
                tiers(layout_, resolved_.levels, rank_, top_, is_scan_ ? Leader::highest : Leader::lowest);
            if (!tiers_.empty() && part_of(tiers_.front()) == 0) arrange(tiers_.front().group);
        } else {
            tiers_.push_back({resolved_.levels.empty() ? -1 : resolved_.levels.front(), everybody()});
        }
    }

    schedule::Schedule build() {
        begin_stage(!collective_.has_blocks());
        if (collective_.is_exchange() && !collective_.reduces) {
            exchange_blocks();
            return builder_.finish();
        }
        open();
        for (auto tier = tiers_.rbegin(); tier != tiers_.rend(); ++tier) {
            if (part_of(*tier) > 0 && collective_.up != nullptr) go_up(*tier);
        }
        if (collective_.up == algorithms::gather_table && collective_.across != algorithms::gather_table)
            gather_blocks();
        for (const Tier& tier : tiers_) {
            if (part_of(tier) == 0) go_up(tier);
        }
        if (collective_.across == algorithms::gather_table) gather_blocks();
        if (collective_.down != nullptr) {
            // What a leader has is what is passed down.
            if (collective_.up == algorithms::reduce_table && !collective_.has_blocks() && leads_down())
                data_.settle(builder_);
            // What all are to have is one message.
            if (collective_.has_blocks() && collective_.down == algorithms::bcast_table) begin_stage(true);
            for (const Tier& tier : tiers_) {
                if (is_scan_ || part_of(tier) > 0) go_down(tier);
            }
        }
        close();
        return builder_.finish();
    }

  private:
    void begin_stage(bool may_be_segmented) {
        const std::int64_t segment_bytes = may_be_segmented ? resolved_.recipe.segment_bytes : 0;
        // Temporaries hold as many segments as messages may be under way.
        builder_.stage(segment_bytes > 0, place::window(layout_, segment_bytes));
    }

    /// What there is to begin with.
    void open() {
        data_.in_order = resolved_.in_order;
        if (collective_.has_blocks()) open_blocks();
        if (!collective_.reduces) return;
        const bool has_output = collective_.has_output(is_root_);
        data_.value = has_output && in_place_ ? schedule::output_buffer : schedule::input_buffer;
        data_.result =
            has_output && !passes_on_ && collective_.output == Holds::message ? schedule::output_buffer : -1;
    }

    /// The number of the first of the caller's counts of the output: those of the input come before.
    [[nodiscard]] int first_count_of_output() const {
        if (!collective_.has_input(is_root_)) return 0;
        return collective_.input == Holds::all_blocks ? layout_.size : 1;
    }

    void open_blocks() {
        const bool is_equal = collective_.agreed == Agreed::block;
        const Lengths given = is_equal ? Lengths::equal : Lengths::given;
        lengths_ = is_equal                                ? Lengths::equal
                   : collective_.agreed == Agreed::nothing ? Lengths::learnt
                                                           : Lengths::given;
        std::vector<int> everyone(at(layout_.size));
        std::iota(everyone.begin(), everyone.end(), 0);
        const bool has_all_in = collective_.input == Holds::all_blocks && collective_.has_input(is_root_);
        const bool has_all_out = collective_.output == Holds::all_blocks && collective_.has_output(is_root_);
        if (has_all_in || has_all_out) {
            data_.blocks = Blocks(builder_, everyone, given, has_all_out ? first_count_of_output() : 0);
            data_.blocks.buffer = has_all_out ? schedule::output_buffer : schedule::input_buffer;
        }
        if (has_all_out && in_place_) {
            own_ = data_.blocks.of(builder_, std::array{rank_});
            return;
        }
        const bool is_out = collective_.output == Holds::own_block;
        Blocks own(builder_, {rank_}, given, (is_out ? first_count_of_output() : 0) - rank_);
        own.buffer = is_out ? schedule::output_buffer : schedule::input_buffer;
        // In place, a scattered message's own block stays with the others; a reduced one does not.
        if (is_out && in_place_ && !collective_.reduces) own.buffer = -1;
        own_ = own.all(builder_);
        own_length_ = own.lengths_of(builder_, std::array{rank_});
    }

    /// The blocks have their way to whoever leads them: they go.
    void gather_blocks() {
        data_.passage.parent_knows = data_.passage.parent == top_;
        data_.passage.gather(builder_, lengths_, own_, own_length_, data_.blocks);
        data_.passage = {};
    }

    /// Where what has been reached is not where it is to be.
    void close() {
        if (passes_on_ && rank_ == 0) builder_.send(root_, builder_.whole(data_.value));
        if (passes_on_ && rank_ == root_) {
            builder_.recv(0, builder_.whole(schedule::output_buffer));
        } else if (collective_.output == Holds::own_block) {
            // Reduced blocks are where the reduction left them.
            if (collective_.reduces) data_.blocks.buffer = leads_down() ? data_.value : -1;
            // Alone, and in place.
            if (collective_.reduces && data_.blocks.buffer == schedule::output_buffer) return;
            data_.passage.scatter(builder_, lengths_, data_.blocks, own_);
        } else if (collective_.reduces && !collective_.skips_first && is_root_) {
            data_.result = schedule::output_buffer;
            data_.settle(builder_);
        }
    }

    void exchange_blocks() {
        std::vector<Exchanged> among;
        for (const Tier& tier : tiers_) {
            const std::size_t part = part_of(tier);
            const Setting& setting = part == 0 ? resolved_.up[part] : resolved_.down[part];
            among.push_back({tier.group, setting.algorithm->append, setting.parameter});
        }
        exchange(builder_, among, collective_.agreed == Agreed::block, in_place_);
    }

    /// Which part of the recipe a tier is of; 0: the outermost.
    [[nodiscard]] std::size_t part_of(const Tier& tier) const {
        const auto level = std::find(resolved_.levels.begin(), resolved_.levels.end(), tier.level);
        return level == resolved_.levels.end() ? 0
                                               : static_cast<std::size_t>(level - resolved_.levels.begin());
    }

    /// Whether this rank takes part in the outermost tier, or there is none: then it leads all.
    [[nodiscard]] bool leads_down() const {
        return rank_ == top_ || (!tiers_.empty() && part_of(tiers_.front()) == 0);
    }

    /// Inside a group, or across.
    void go_up(const Tier& tier) { is_scan_ ? scan(tier) : append_or_call(resolved_.up, tier); }
    void go_down(const Tier& tier) { is_scan_ ? put_before(tier) : append_or_call(resolved_.down, tier); }

    /// Whether this rank has a part in a tier for itself alone, and does not stand for others.
    [[nodiscard]] bool is_for_itself(const Tier& tier) const { return &tier == &tiers_.back(); }

    /// What is left in the group is for this rank itself; or, where it stands for others, for them: they want
    /// what comes before. The leader of the group goes on with what all of it had.
    void scan(const Tier& tier) {
        const bool is_result = is_for_itself(tier) && !collective_.skips_first;
        data_.before = is_result ? -1 : is_for_itself(tier) ? schedule::output_buffer : builder_.scratch();
        data_.with_own = is_result || &tier != &tiers_.front();
        data_.result = is_result ? schedule::output_buffer : -1;
        append_or_call(resolved_.up, tier);
        prefixes_.push_back(is_result ? data_.value : tier.group.me > 0 ? data_.before : -1);
    }

    /// Combines what all ranks before the group had, which its leader knows by now, with what each member has
    /// of the group.
    void put_before(const Tier& tier) {
        const int prefix = prefixes_.back();
        prefixes_.pop_back();
        if (tier.group.parts[0].front() > 0) {
            data_.result = prefix < 0 && is_for_itself(tier) ? schedule::output_buffer : -1;
            append_or_call(resolved_.down, tier);
            if (prefix >= 0) builder_.reduce(builder_.whole(data_.value), builder_.whole(prefix));
        }
        if (prefix >= 0) data_.value = prefix;
    }

    void append_or_call(const std::vector<Setting>& phase, const Tier& tier) {
        const Setting& setting = phase[part_of(tier)];
        if (setting.algorithm != nullptr) {
            setting.algorithm->append(builder_, tier.group, data_, setting.parameter);
        } else {
            builder_.library_bcast(tier.level, tier.group.rank_at(0), builder_.whole(data_.value));
        }
    }

    [[nodiscard]] algorithms::Group everybody() const {
        algorithms::Group group;
        group.ranks.resize(at(layout_.size));
        std::iota(group.ranks.begin(), group.ranks.end(), 0);
        group.parts = algorithms::Parts::single(group.ranks);
        group.root = top_;
        group.me = rank_;
        arrange(group);
        return group;
    }

    /// Puts the members of the outermost group into the order that the recipe asks for.
    void arrange(algorithms::Group& group) const {
        if (resolved_.recipe.order() == Order::ranks) return;
        if (order_.empty()) order_ = order_of(group);
        const algorithms::Group before = std::move(group);
        group = {};
        for (std::size_t i = 0; i < order_.size(); ++i) {
            const int position = order_[i];
            if (position == before.root) group.root = static_cast<int>(i);
            if (position == before.me) group.me = static_cast<int>(i);
            group.ranks.push_back(before.ranks[at(position)]);
            group.parts.add(before.parts[at(position)]);
        }
    }

    /// Positions in the group.
    [[nodiscard]] std::vector<int> order_of(const algorithms::Group& group) const {
        const Order order = resolved_.recipe.order();
        const auto members = layout_.restricted_to(group.ranks);
        if (order == Order::tree) return tree_order(members, group.root);
        const auto& [algorithm, parameter] = resolved_.up.front();
        const Walk walk = order == Order::depth_first     ? Walk::depth_first
                          : order == Order::breadth_first ? Walk::breadth_first
                                                          : Walk::longest_first;
        return mapped(members, algorithm->tree, parameter, group.root, walk);
    }

    const Resolved& resolved_;
    const Collective& collective_;
    const place::Layout& layout_;
    int rank_;
    int root_;
    bool in_place_;
    bool is_root_;
    bool is_scan_;
    int top_ = 0;  ///< where all comes together, or begins
    bool passes_on_ = false;
    std::vector<int>& order_;
    std::vector<Tier> tiers_;  // in which this rank works, outermost first
    schedule::Builder builder_;
    Data data_;
    std::vector<int> prefixes_;  // scans: what this rank has of the groups of its tiers; -1: it is the first
    Lengths lengths_ = Lengths::equal;  // of blocks that pass through this rank
    schedule::Slice own_;               // this rank's block, where it is or is to be
    schedule::Slice own_length_;
};

}  // namespace

schedule::Schedule schedule_of(const Resolved& resolved, const place::Layout& layout, int rank, int root,
                               bool in_place) {
    std::vector<int> order;
    return Composer(resolved, layout, rank, root, in_place, order).build();
}

void each_schedule(const Resolved& resolved, const place::Layout& layout, int root,
                   const std::function<void(schedule::Schedule)>& visit) {
    std::vector<int> order;
    for (int rank = 0; rank < layout.size; ++rank)
        visit(Composer(resolved, layout, rank, root, false, order).build());
}

}  // namespace isochrone::core::compose
