// SPDX-License-Identifier: BSD-3-Clause
//
// What a recipe is expected to take in a program's calls: its price by the model, and what was missing in the
// prices of those that were tried before.
//
// The model knows how much goes where. It knows less of what each message takes, as where ranks share cores,
// and nothing of ranks that come late. With w for those and c for each message, a recipe of price p in which
// all ranks together send k messages is expected to take
//
//     p + w + c min(k, most),    w >= 0, c >= 0,
//
// fitted to those tried of the same kind of calls by least squares. Where all of them sent as many, c is what
// other kinds of calls on the same ranks have shown (MessageCost), or else w is 0. It is not extrapolated to
// more messages than were tried: of those beyond, each takes as long as in the races of the plan. Before any
// was tried it is p.
#pragma once

#include <vector>

#include "compose/recipe.hpp"

namespace isochrone::core::select {

struct Priced {
    compose::Recipe recipe;
    double seconds = 0;
    double messages = 1;  ///< of all ranks, one for each segment, as far as the recipe says
    double took = 0;      ///< of the model's price, in the plan's races, which is in this one; 0: not known

    /// Whether the price is what it took in the plan's races, with all its messages.
    [[nodiscard]] bool is_raced() const { return took > 0; }
    /// The model's price.
    [[nodiscard]] double model_s() const { return is_raced() ? seconds / took : seconds; }
    /// That the price does not hold.
    [[nodiscard]] double messages_beside() const { return is_raced() ? 0 : messages; }
};

/// One that was tried: what it took, or 0 where it could not run.
struct Tried {
    Priced priced;
    double measured_s = 0;
};

/// What each message takes beside the price, as several kinds of calls have shown: how recipes with more and
/// with fewer differed, each kind beside its own mean, as w and what a byte takes differ between kinds. It is
/// fitted by least squares of what is left as a share of the kind's mean time, as the model errs by shares:
/// else large messages alone would count. Kinds whose recipes all sent as many tell nothing.
class MessageCost {
  public:
    /// Nothing is known.
    MessageCost() = default;
    /// As others have found it.
    MessageCost(double each_s, double most_messages)
        : together_s_(each_s), squares_(1), most_messages_(most_messages) {}

    /// All that was tried of one kind.
    void add(const std::vector<Tried>& tried);

    [[nodiscard]] bool is_known() const { return squares_ > 0; }
    /// At least 0; 0 where nothing is known.
    [[nodiscard]] double each_s() const;
    /// It was seen with as many, and not with more.
    [[nodiscard]] double most_messages() const { return most_messages_; }
    /// Of so many, of which each beyond those takes as long as `raced` has it, as far as that was seen.
    [[nodiscard]] double of(double messages, const MessageCost& raced) const;

  private:
    double together_s_ = 0;  // sums of products beside the means
    double squares_ = 0;
    double most_messages_ = 0;
};

class Expectation {
  public:
    /// `tried`: of this kind of calls. `elsewhere`: of other kinds on the same ranks. `raced`: of the plan.
    explicit Expectation(std::vector<Tried> tried, const MessageCost& elsewhere = {},
                         const MessageCost& raced = {});

    /// Seconds.
    [[nodiscard]] double of(const Priced& one) const;
    [[nodiscard]] const std::vector<Tried>& tried() const { return tried_; }
    /// Whether one of this kind was measured.
    [[nodiscard]] bool is_measured() const { return is_measured_; }

  private:
    std::vector<Tried> tried_;
    bool is_measured_ = false;
    double all_s_ = 0;  // w
    MessageCost cost_;  // c
    MessageCost raced_;
};

}  // namespace isochrone::core::select
