// SPDX-License-Identifier: BSD-3-Clause
//
// Runs collectives on one communicator as a plan says. Decides only from what is equal on all ranks: the
// plan, where the ranks sit, the root, and the total number of bytes.
#pragma once

#include <mpi.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "executor/communicator.hpp"
#include "place/layout.hpp"
#include "select/plan.hpp"

namespace isochrone::mpi::executor {

class Dispatcher {
  public:
    /// What is to be done with a collective, and why. The reference that decide() returns stays good.
    struct Decision {
        const core::compose::Resolved* resolved = nullptr;  ///< nullptr: the library's own
        std::string reason;
        const core::select::Rule* rule = nullptr;  ///< that holds; nullptr: nothing was measured
        core::select::Basis basis = core::select::Basis::none;
        double speedup = 0;          ///< over the library's own, as far as it is known
        double model_s = 0;          ///< its price by the model, of one on trial or found live; 0: of others
        std::int64_t min_bytes = 0;  ///< the same holds from this agreed size
        std::int64_t max_bytes = 0;  ///< ... to this, inclusive
    };

    /// Collective: what recipes are to run on, or nullptr, on all ranks alike, and why.
    struct Opened {
        std::unique_ptr<Communicator> communicator;
        std::string refusal;
    };
    using Open = std::function<Opened()>;

    /// Not collective: `open` is called when a recipe is first chosen. `surveyed`: what the plan says of
    /// questions that are `as_surveyed`; nullptr: the same as of others. Both plans must outlive this.
    Dispatcher(core::place::Layout layout, const core::select::Plan& plan, Open open,
               const core::select::Plan* surveyed = nullptr);

    [[nodiscard]] const core::place::Layout& layout() const { return layout_; }
    [[nodiscard]] const core::select::Plan& plan() const { return plan_; }
    /// Of the ranks, as place::order has it.
    [[nodiscard]] const std::string& order() const { return order_; }

    /// What is asked, but for its size: equal on all ranks. `root`: 0 where the collective has none.
    struct Question {
        const core::collectives::Collective* collective;
        int root = 0;
        bool in_order = false;     ///< operands have to be combined in rank order
        bool as_surveyed = false;  ///< rules that were found live are not for it

        friend auto operator<=>(const Question&, const Question&) = default;
    };

    /// Whether the plan has a recipe for any shape and size: between two shapes that agree it holds for
    /// others too.
    [[nodiscard]] bool has_recipes(const core::collectives::Collective& collective);

    /// Collective whenever a recipe is first chosen. Whether recipes are over does not count: see stopped().
    const Decision& decide(const Question& question, std::int64_t bytes);

    /// Collective whenever a recipe is first chosen. What is to be done with a recipe that no rule names, for
    /// calls up to `bytes`.
    Decision decide_on(const Question& question, const core::compose::Recipe& recipe, std::int64_t bytes);

    /// Collective. Runs a decision that is not the library's own, as Communicator::run.
    void run(const Decision& decision, int root, const Buffers& buffers, core::schedule::Extents sizes);
    /// ... where all ranks have one message, of `units`.
    void run(const Decision& decision, int root, const Buffers& buffers, std::int64_t units);

    /// Before a run whose time counts: what it would set up. Fails as a run does.
    void prepare(const Decision& decision, int root, bool in_place);

    /// What a recipe that runs no more has needed may be as much as all messages.
    void release_scratch() {
        if (communicator_) communicator_->release_scratch();
    }

    /// A recipe has failed on this rank. The others do not know yet: recipes go on, each run with a tag of
    /// its own, until one would have the tag of what that run has left on its way.
    [[nodiscard]] bool has_failed() const { return has_failed_; }
    /// One has failed on some rank: none is a recipe from now on. On all ranks alike.
    void stop() { is_stopped_ = true; }
    [[nodiscard]] bool is_stopped() const {
        return is_stopped_ || (has_failed_ && runs_since_ + 1 >= communicator_->tags());
    }
    /// In place of a recipe, then.
    [[nodiscard]] const Decision& stopped() const { return stopped_; }

  private:
    Decision make_decision(const Question& question, std::int64_t bytes);
    [[nodiscard]] bool has_too_many_segments(const Question& question, const core::compose::Recipe& recipe,
                                             std::int64_t bytes) const;

    core::place::Layout layout_;
    const std::string order_;
    const core::select::Plan& plan_;
    const core::select::Plan& surveyed_;
    Open open_;
    std::map<const core::collectives::Collective*, bool> has_recipes_;
    std::map<Question, std::deque<Decision>> known_;  ///< those that were asked for, where they stay
    std::unique_ptr<Communicator> communicator_;
    std::string refusal_;  ///< why there is none, once that is known
    Decision too_many_segments_;
    bool has_failed_ = false;
    int runs_since_ = 0;  ///< it has failed
    bool is_stopped_ = false;
    Decision stopped_;
};

}  // namespace isochrone::mpi::executor
