// SPDX-License-Identifier: BSD-3-Clause
//
// The search for a recipe in a program's calls of one kind: few are tried one after the other, each against
// the best so far. Rank 0 proposes the next, for which it works out prices between the calls, and all ranks
// hear of it. What trying it has shown all ranks agree on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/collective.hpp"
#include "place/layout.hpp"
#include "select/expectation.hpp"
#include "select/plan.hpp"
#include "select/pricing.hpp"

namespace isochrone::core::select {

/// What to try.
struct Proposal {
    enum class What : std::uint8_t { wait, nothing, recipe };
    What what = What::nothing;
    std::int64_t wait_until = 0;  ///< number of calls
    Priced priced;
    bool is_by_messages = false;  ///< others have a lower price, and more messages
    double expected_s = 0;        ///< after what those tried before took
};

class Search {
  public:
    /// The first of its kind.
    struct Call {
        const collectives::Collective* collective = nullptr;
        int root = 0;
        std::int64_t size_bytes = 0;
        bool in_order = false;
    };
    /// Seconds that this thread has spent. What others take meanwhile is no cost of pricing.
    using Clock = std::function<double()>;

    /// Plan and layout must outlive it.
    Search(const Plan& plan, const place::Layout& layout, const Call& call, Clock clock);

    /// On rank 0: prices some, as far as their share of the time of all calls goes, and proposes what is
    /// expected to be fast. `incumbent_s`: what runs takes. `elsewhere`: what trials of other kinds have
    /// shown on the communicator. It, or else what the plan's races have shown, tells which of those that the
    /// model finds faster than what runs comes first, and not whether one is worth it.
    [[nodiscard]] Proposal propose(double incumbent_s, std::int64_t calls_so_far,
                                   const MessageCost& elsewhere);

    /// All ranks: this is tried from now on.
    void tries(Priced one) { tried_.push_back({std::move(one), 0}); }
    /// All ranks: the last one took so long, and runs from now on if it `is_kept`.
    void took(double seconds, bool is_kept);
    /// All ranks: no more are tried.
    void end();

    [[nodiscard]] bool is_over() const { return is_over_; }
    [[nodiscard]] bool is_full() const { return tried_.size() >= most_tried; }
    [[nodiscard]] const std::vector<Tried>& tried() const { return tried_; }

  private:
    /// `are_slow_here`: messages, on the communicator.
    void price_more(double allowed_s, bool are_slow_here);

    const Plan& plan_;
    const place::Layout& layout_;
    Call call_;
    Clock clock_;
    std::unique_ptr<Pricing> pricing_;
    double priced_s_ = 0;      // that it has spent on prices
    double next_price_s_ = 0;  // about what the next takes
    std::vector<Tried> tried_;
    std::optional<std::size_t> kept_;  // the one that runs
    bool is_over_ = false;
};

}  // namespace isochrone::core::select
