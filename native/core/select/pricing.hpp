// SPDX-License-Identifier: BSD-3-Clause
//
// Which of some recipes to try in a program's calls: what is expected to be the fastest (expectation.hpp).
// They are priced piece by piece between the calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/collective.hpp"
#include "compose/recipe.hpp"
#include "place/layout.hpp"
#include "select/candidates.hpp"
#include "select/expectation.hpp"

namespace isochrone::core::select {

/// Whether two recipes differ in the segment alone, if at all.
[[nodiscard]] bool are_alike(const compose::Recipe& one, const compose::Recipe& other);

/// Of the recipes with a price so many are tried: the model errs by more than they differ.
inline constexpr std::size_t most_tried = 3;

/// The model errs. What it finds this many times as slow as what runs is not tried all the same.
inline constexpr double hopeless = 2;

/// Prices of some recipes by the model, worked out piece by piece, and which of them to try. Where the plan
/// has proven one, its price is as many times the model's as it took there.
class Pricing {
  public:
    /// All but the candidates must outlive this.
    Pricing(Candidates candidates, const collectives::Collective& collective, const place::Layout& layout,
            int root, std::int64_t size_bytes);

    /// Prices the next one; false: there is none.
    bool step();

    /// The cheapest `most_tried` so far, ascending; of equal ones the first comes first. Of recipes that
    /// differ in the segment alone, or in their names and not in their messages, only the cheapest is there.
    [[nodiscard]] std::vector<Priced> cheapest() const;
    [[nodiscard]] std::size_t priced() const { return priced_; }
    [[nodiscard]] bool is_done() const { return priced_ == candidates_.recipes.size(); }

    /// What is to be tried next: of what is expected to be the fastest, the first that is like none of those
    /// tried before, or faster than such a one by what trials can tell. nullptr: none is, of those priced so
    /// far. Good until step().
    [[nodiscard]] const Priced* next(const Expectation& expected) const;

    /// In its place while none was measured: the fastest if messages take as long as elsewhere and, beyond
    /// that, as they have `raced`, of those with a price below `limit_s`. nullptr: none has such a price.
    [[nodiscard]] const Priced* next_by_messages(const Expectation& expected, const MessageCost& elsewhere,
                                                 const MessageCost& raced, double limit_s) const;

    /// How many recipes more are to be priced before that is tried, or before this is asked again; 0: it may
    /// be tried now. It is tried when some are priced of which one is not `hopeless`. Or, if it is the first,
    /// when those are that the plan has proven, and one of them is faster by the model; or when one is of
    /// which it is known what it took. After the first it has to be cheaper than what runs, for as long as
    /// there are others: few are tried, and among those without a price may be better. `incumbent_s`: what is
    /// expected of what runs, or what it takes where it has no price.
    [[nodiscard]] std::size_t lacking(double incumbent_s, const Expectation& expected) const;

  private:
    /// The one with the least `key` that is like none of those tried, as next() has it.
    template <class Key>
    [[nodiscard]] const Priced* least(const Expectation& expected, const Key& key) const;
    struct Kept {
        Priced priced;
        std::int64_t segment_bytes = 0;  ///< also where the recipe leaves that to its algorithms
        std::size_t family = 0;
    };
    /// nullopt: none of its name was priced.
    [[nodiscard]] std::optional<std::size_t> known_family(const compose::Recipe& recipe) const;
    /// The price from which `most_tried` of several families send no more messages and are no dearer, so that
    /// one is never among the first of these, whatever a message takes. Infinity: there are fewer.
    [[nodiscard]] double limit_for(double messages) const;
    /// A number for all that differ in the segment alone. Those of one price in one segment, and of
    /// as many messages, are the same by another name: among two racks recursive multiplying is recursive
    /// doubling.
    std::size_t family_of(const Kept& one);

    Candidates candidates_;
    const collectives::Collective& collective_;
    const place::Layout& layout_;
    int root_;
    std::int64_t size_bytes_;
    std::size_t priced_ = 0;      ///< of the candidates, the first so many
    std::vector<Kept> kept_;      ///< ascending; of each segment one of a family
    std::vector<Kept> families_;  ///< the first priced of each name
    std::size_t count_ = 0;       ///< of families
};

}  // namespace isochrone::core::select
