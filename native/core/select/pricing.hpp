// SPDX-License-Identifier: BSD-3-Clause
//
// Which of some recipes to try in a program's calls: the cheapest by the model first, priced piece by piece
// between the calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "collectives/collective.hpp"
#include "compose/recipe.hpp"
#include "place/layout.hpp"
#include "select/candidates.hpp"

namespace isochrone::core::select {

/// Whether two recipes differ in the segment alone, if at all.
[[nodiscard]] bool are_alike(const compose::Recipe& one, const compose::Recipe& other);

/// Of the recipes with a price so many are tried, the cheapest first: the model errs by more than they
/// differ.
inline constexpr std::size_t most_tried = 3;

/// The cheapest of some recipes by the model, worked out piece by piece.
class Pricing {
  public:
    /// All but the candidates must outlive this.
    Pricing(Candidates candidates, const collectives::Collective& collective, const place::Layout& layout,
            int root, std::int64_t size_bytes);

    /// Prices the next one; false: there is none.
    bool step();

    struct Priced {
        compose::Recipe recipe;
        double seconds = 0;
    };
    /// The cheapest `most_tried` so far, ascending; of equal ones the first comes first. Of recipes that
    /// differ in the segment alone, or in their names and not in their messages, only the cheapest is there:
    /// they are too much alike for trials of each.
    [[nodiscard]] const std::vector<Priced>& cheapest() const { return cheapest_; }
    [[nodiscard]] std::size_t priced() const { return priced_; }
    [[nodiscard]] bool is_done() const { return priced_ == candidates_.recipes.size(); }

    /// What is to be tried next: the cheapest that is like none of those tried before, or cheaper than such a
    /// one by what trials can tell. nullptr: none is, of those priced so far. Good until step().
    [[nodiscard]] const Priced* next(const std::vector<Priced>& tried) const;

    /// How many recipes more are to be priced before that is tried, or before this is asked again; 0: it may
    /// be tried now. It is tried when some are priced. Or, if it is the first, when those are that the plan
    /// has proven, and one of them is faster by the model. After the first it has to be cheaper than what
    /// runs, for as long as there are others: few are tried, and among those without a price may be better.
    /// `incumbent_s`: the price of what runs, or what it takes where it has none.
    [[nodiscard]] std::size_t lacking(double incumbent_s, const std::vector<Priced>& tried) const;

  private:
    /// A number for all that differ in the segment alone. Those of one price in one segment are the same
    /// messages by another name: among two racks recursive multiplying is recursive doubling.
    std::size_t family_of(const Priced& one);

    Candidates candidates_;
    const collectives::Collective& collective_;
    const place::Layout& layout_;
    int root_;
    std::int64_t size_bytes_;
    std::size_t priced_ = 0;  ///< of the candidates, the first so many
    std::vector<Priced> cheapest_;
    std::vector<std::pair<Priced, std::size_t>> families_;  // the first priced of each name
};

}  // namespace isochrone::core::select
