// SPDX-License-Identifier: BSD-3-Clause
//
// Runs collectives on one communicator as a plan says. Decides only from what is equal on all ranks: the
// plan, where the ranks sit, the root, and the total number of bytes.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "executor/communicator.hpp"
#include "place/layout.hpp"
#include "select/plan.hpp"

namespace isochrone::mpi::executor {

class Dispatcher {
  public:
    /// What is to be done with a broadcast, and why. The reference that decide_bcast returns stays good.
    struct Decision {
        const core::compose::Resolved* resolved = nullptr;  ///< nullptr: the library's own
        std::string reason;
        const core::select::Rule* rule = nullptr;  ///< that holds; nullptr: nothing was measured
    };

    /// Collective: what recipes are to run on, or nullptr, on all ranks alike, and why.
    struct Opened {
        std::unique_ptr<Communicator> communicator;
        std::string refusal;
    };
    using Open = std::function<Opened()>;

    /// Not collective: `open` is called when a recipe is first chosen. `plan` must outlive this.
    Dispatcher(core::place::Layout layout, const core::select::Plan& plan, Open open);

    [[nodiscard]] const core::place::Layout& layout() const { return layout_; }

    /// Whether the plan has a recipe for any size of a broadcast from this root.
    [[nodiscard]] bool has_recipes(int root);

    /// Collective whenever a recipe is first chosen.
    const Decision& decide_bcast(int root, std::int64_t bytes);

    /// Collective. Broadcasts `bytes` contiguous bytes by a decision that is not the library's own. If that
    /// fails on this rank, all decisions are the library's own from then on.
    void bcast(const Decision& decision, void* data, std::int64_t bytes, int root);

  private:
    /// The decisions for one root, by the rule that holds (nullptr: none).
    struct Root {
        std::string shape;
        bool has_recipes = false;
        std::unordered_map<const core::select::Rule*, Decision> by_rule;
    };
    Root& root_of(int root);
    Decision make_decision(int root, std::int64_t bytes);

    core::place::Layout layout_;
    const core::select::Plan& plan_;
    Open open_;
    std::unordered_map<int, Root> roots_;
    std::unique_ptr<Communicator> communicator_;
    std::string refusal_;  ///< why there is none, once that is known
    Decision too_many_segments_;
    bool has_failed_ = false;
    Decision failed_;
};

}  // namespace isochrone::mpi::executor
